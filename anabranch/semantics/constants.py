"""Constants of the program as values, and initialisers as the bytes of memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from anabranch.expr import Expr
from anabranch.ir.types import VectorType
from anabranch.ir.values import (
    BlockAddress,
    ConstAggregate,
    ConstBytes,
    ConstExpr,
    ConstFloat,
    ConstInt,
    GlobalRef,
    Null,
    Operand,
    Poison,
    Undef,
    Zero,
)
from anabranch.semantics.elements import Value, element_offsets, undefined_value, zero_value
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.operations import fold
from anabranch.semantics.vectors import vector_to_bits

NOTHING = (Zero, Undef, Poison, Null)
"""Constants that leave memory zero, as the loader does with what is undefined."""


class Constants(ABC):
    """Constant operands, given where the symbols of the program lie."""

    @abstractmethod
    def address(self, name: str) -> Value:
        """The address of a variable, a function or an alias."""

    @abstractmethod
    def label_address(self, label: BlockAddress) -> Value: ...

    def value(self, operand: Operand) -> Value:
        """The value of a constant operand."""
        if isinstance(operand, ConstInt):
            return bool(operand.value) if operand.type.width == 1 else operand.value
        if isinstance(operand, ConstFloat):
            return operand.bits
        if isinstance(operand, Null):
            return 0
        if isinstance(operand, GlobalRef):
            return self.address(operand.name)
        if isinstance(operand, Undef | Poison):
            return undefined_value(operand.type)
        if isinstance(operand, Zero):
            return zero_value(operand.type)
        if isinstance(operand, ConstBytes):
            return tuple(operand.data)
        if isinstance(operand, ConstAggregate):
            return tuple(map(self.value, operand.elements))
        if isinstance(operand, BlockAddress):
            return self.label_address(operand)
        if isinstance(operand, ConstExpr):
            return fold(operand, [self.value(part) for part in operand.operands])
        raise Unsupported(f"operand {operand!r}")

    def cells(self, operand: Operand, offset: int = 0) -> Iterator[tuple[int, int, Value]]:
        """An initialiser in memory: offset, bytes, value (of a string: `bytes`); zeros are left out."""
        if isinstance(operand, NOTHING):
            return
        type = operand.type
        if isinstance(operand, ConstBytes):
            yield offset, len(operand.data), operand.data
        elif isinstance(operand, ConstAggregate) and not (
            isinstance(type, VectorType) and type.element.bits % 8
        ):
            for start, element in zip(element_offsets(type), operand.elements, strict=True):
                yield from self.cells(element, offset + start)
        else:
            value = self.value(operand)
            if isinstance(type, VectorType):
                value = vector_to_bits(value, type)
            yield offset, (type.bits + 7) // 8, value

    def image(self, operand: Operand, size: int) -> bytes:
        """The bytes of an initialiser; what is not known is zero."""
        data = bytearray(size)
        for offset, length, value in self.cells(operand):
            if value.__class__ is bytes:
                data[offset : offset + length] = value
            elif value.__class__ is not Expr:
                data[offset : offset + length] = int(value).to_bytes(length, "little")
        return bytes(data)

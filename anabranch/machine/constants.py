"""Constants of the program as run-time values, and the addresses of its globals and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anabranch.expr import Expr
from anabranch.ir.module import Function, GlobalVariable, Module
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
from anabranch.machine.elements import element_offsets, element_types, undefined_value, zero_value
from anabranch.machine.ends import Loss
from anabranch.machine.folding import fold
from anabranch.machine.memory import Memory
from anabranch.machine.objects import AllocationSite, ObjectNumbers

Value = Any  # int | bool | Expr | tuple of values

# A declaration that may stay undefined; its address is then null, as a linker leaves it.
EXTERN_WEAK = "extern_weak"

# Blocks of a function, as labels whose address is taken, lie at this offset of the function's object.
LABEL_OFFSET = 1 << 20


class Layout:
    """Where globals and functions lie, and what constant operands are."""

    def __init__(
        self,
        module: Module,
        numbers: ObjectNumbers,
        external: Mapping[str, bytes],
        provided: Callable[[str], bool],
    ) -> None:
        """`provided` tells which functions and variables without a definition exist all the same."""
        self.module = module
        self._external = external
        self.addresses: dict[str, int] = {}
        self.functions: dict[int, Function] = {}
        self.globals: list[tuple[int, GlobalVariable]] = []
        self._sites: dict[str, AllocationSite] = {}
        for variable in module.globals.values():
            if variable.linkage == EXTERN_WEAK and not (variable.name in external or provided(variable.name)):
                self.addresses[variable.name] = 0
                continue
            kind = "constant" if variable.constant else "global"
            site = numbers.new_site(kind, variable.source_name, variable.value_type, variable.loc)
            self._place(variable.name, site, numbers, variable.value_type.size)
            self.globals.append((self.addresses[variable.name], variable))
        for function in module.functions.values():
            if function.linkage == EXTERN_WEAK and not provided(function.name):
                self.addresses[function.name] = 0
                continue
            site = numbers.new_site("function", function.name)
            self._place(function.name, site, numbers)
            self.functions[self.addresses[function.name]] = function

    def _place(self, name: str, site: AllocationSite, numbers: ObjectNumbers, size: int = 0) -> None:
        self.addresses[name] = numbers.number(site, 1, size) << 32
        self._sites[name] = site

    def install(self, memory: Memory) -> None:
        """Make all globals and functions objects of the store."""
        for address, variable in self.globals:
            size, site = variable.value_type.size, self._sites[variable.name]
            if isinstance(variable.initializer, Zero) and not variable.constant:
                assert memory.allocate(site, size, zero=True) == address
                continue
            data = bytearray(size)
            if variable.initializer is not None:
                self.write_constant(data, 0, variable.initializer)
            elif variable.name in self._external:
                content = self._external[variable.name]
                data[: len(content)] = content[:size]
            base = memory.allocate(site, size, bytes(data))
            assert base == address
        for address, function in self.functions.items():
            assert memory.allocate(self._sites[function.name], 0, b"") == address

    def address(self, name: str) -> int:
        address = self.addresses.get(name)
        if address is None:
            aliased = self.module.aliases.get(name)
            if aliased is None:
                raise Loss("unsupported", f"reference to @{name}")
            address = self.addresses[name] = int(self.value(aliased))
        return address

    def label_address(self, label: BlockAddress) -> int:
        function = self.module.functions[label.function]
        index = next(block.index for block in function.blocks if block.name == label.block)
        return self.address(label.function) + LABEL_OFFSET + index

    def value(self, operand: Operand) -> Value:
        """The run-time value of a constant operand."""
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
        raise Loss("unsupported", f"operand {operand!r}")

    def write_constant(self, data: bytearray, offset: int, operand: Operand) -> None:
        """Lay an initialiser out in memory; undefined parts are zero, as the loader leaves them."""
        if isinstance(operand, Zero | Undef | Poison | Null):
            return
        if isinstance(operand, ConstBytes):
            data[offset : offset + len(operand.data)] = operand.data
            return
        type = operand.type
        if isinstance(operand, ConstAggregate) and not (
            isinstance(type, VectorType) and type.element.bits % 8
        ):
            for place, element in zip(element_offsets(type), operand.elements, strict=True):
                self.write_constant(data, offset + place, element)
            return
        size = (type.bits + 7) // 8
        if isinstance(operand, ConstFloat):
            value: Value = operand.bits
        else:
            value = self.value(operand)
        if value.__class__ is Expr:
            return
        if isinstance(value, tuple):
            bits = element_types(type)[0].bits
            value = sum(int(lane) << (i * bits) for i, lane in enumerate(value))
        data[offset : offset + size] = int(value).to_bytes(size, "little")

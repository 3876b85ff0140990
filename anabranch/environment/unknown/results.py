"""Results of functions without a body: fresh symbols of their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch import expr
from anabranch.contracts import NOTHING_KNOWN, Contract
from anabranch.environment.unknown.contents import Place
from anabranch.environment.unknown.objects import UnknownObjects
from anabranch.environment.values import resize
from anabranch.expr import Expr
from anabranch.ir.source_types import CType
from anabranch.ir.types import VOID, PointerType, StructType, Type
from anabranch.machine.ends import Loss

Value = Any
KIND = "answer"
"""The kind of inputs that are answers of unknown functions."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of an unknown function gave: its result (LLVM type with it), and what it wrote where."""

    function: str
    value: Value
    type: Type
    writes: tuple[tuple[int, tuple[Place, ...]], ...] = ()  # by number of the parameter, counted from 1
    symbol: str = ""  # the name of the variable that is the result, if it is one
    same_as: int | None = None
    """The argument that is the result, counted from 0."""


class AnswerMaker:
    """Makes the symbols of one answer."""

    def __init__(self, objects: UnknownObjects, label: str, symbol: str) -> None:
        self.objects = objects
        self.label = label
        self.symbol = symbol
        self.variables: list[Expr] = []
        self.conditions: list[Any] = []

    def or_null(self, value: Value) -> Value:
        """A pointer that may be NULL instead."""
        choice = self.objects.variable(f"{self.label} (which)", 8, KIND)
        self.variables.append(choice)
        return expr.ite(expr.eq(choice, 0, 8), 0, value, 64)

    def result(
        self, type: Type, source: CType | None, contract: Contract, arguments: tuple[Value, ...] = ()
    ) -> Value:
        if type is VOID:
            return None
        if isinstance(type, PointerType):
            return self.pointer(source, self.label, (KIND, self.label), contract)
        if isinstance(type, StructType):
            return tuple(
                self.part(part, source, offset)
                for offset, part in zip(type.offsets, type.fields or (), strict=True)
            )
        value = self.number(type, self.symbol)
        if contract.range is not None and type.bits > 1:
            bounds: list[Value] = [bound & ((1 << type.bits) - 1) for bound in contract.range]
            low, high = bounds
            if contract.up_to is not None:
                if contract.up_to >= len(arguments):
                    return value
                high = resize(arguments[contract.up_to], type.bits)
            if contract.range[0] < 0:
                both = expr.sle(low, value, type.bits), expr.sle(value, high, type.bits)
            else:
                both = expr.ule(low, value, type.bits), expr.ule(value, high, type.bits)
            self.conditions += both
        return value

    def part(self, type: Type, source: CType | None, offset: int) -> Value:
        name = f"{self.label}.at{offset}"
        if isinstance(type, PointerType):
            found = pointer_at(source, offset) if source is not None else None
            return self.pointer(found, name, (KIND, name), NOTHING_KNOWN)
        return self.number(type, name)

    def pointer(self, source: CType | None, name: str, key: tuple[Any, ...], contract: Contract) -> Value:
        target = source.target if source is not None and source.kind == "pointer" else None
        value, variables = self.objects.pointer(target, name, key, 1, KIND, null=not contract.not_null)
        self.variables += variables
        return value

    def number(self, type: Type, name: str) -> Value:
        made = self.objects.scalar(type, name, KIND)
        if made is None:
            raise Loss("unsupported", f"unknown value of type {type}")
        self.variables.append(made[1])
        return made[0]

    def contents(self, type: CType | None, size: int, parameter: int, text: bool = False) -> list[Place]:
        """What is written behind a parameter; `text`: characters that end in a NUL."""
        name = f"{self.label}.arg{parameter}"
        if type is not None and type.size == size and type.kind != "void":
            places, variables = self.objects.value_of(type, name, (KIND, name))
        else:
            names = [f"{name}[{index}]" for index in range(size)]
            last = size - 1 if text else size
            variables = [self.objects.variable(byte, 8, KIND) for byte in names[:last]]
            places = [Place(i, 1, names[i], variable, "byte") for i, variable in enumerate(variables)]
            places += [Place(i, 1, names[i], 0, "byte") for i in range(last, size)]
        self.variables += variables
        return places


def pointer_at(type: CType, offset: int) -> CType | None:
    """The pointer that lies at an offset of a struct."""
    if type.kind == "pointer" and offset == 0:
        return type
    for member in type.members if type.kind in ("struct", "union") else ():
        if member.offset <= offset < member.offset + max(1, member.type.size):
            return pointer_at(member.type, offset - member.offset)
    return None

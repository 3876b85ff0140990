"""What a function without a body writes, and how much of it: by its contract, prototype and arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch.contracts import Contract, Extent
from anabranch.environment.unknown.objects import is_character
from anabranch.environment.values import resize, resolve_length
from anabranch.expr import Expr
from anabranch.ir.module import Function
from anabranch.ir.source_types import CType
from anabranch.ir.types import VOID, ArrayType, StructType, Type
from anabranch.machine.api import ModelApi
from anabranch.machine.bases import base_numbers, nearest
from anabranch.machine.objects import ObjectInfo

Value = Any
LARGEST = 4096
"""Bytes that a call writes where nothing says how many; what lies behind them stays, and that is a loss."""


@dataclass(frozen=True, slots=True)
class Written:
    """What one call writes behind one of its arguments (counted from 0), decided before anything is done."""

    parameter: int
    address: int
    size: int
    type: CType | None
    text: bool = False
    """Characters that end in a NUL, as functions that write to an array of `char` leave them."""


class Writes:
    """What calls of one function write. `everything`: whatever they are given, if no contract says more."""

    def __init__(
        self,
        api: ModelApi,
        name: str,
        prototype: CType | None,
        result: Type,
        contract: Contract,
        function: Function | None,
        everything: bool,
    ) -> None:
        self.api = api
        self.name = name
        self.prototype = prototype
        self.hidden = result is VOID and prototype is not None and prototype.target.kind in _AGGREGATES
        """Is the first argument where the result goes?"""
        self.extents: dict[int, Extent | None] = dict(contract.extents)
        for number in contract.writes or ():
            self.extents.setdefault(number, None)
        self.extents |= _declared(function, self.extents)
        self.others = everything and contract.writes is None
        declared = prototype.parameters if prototype is not None else ()
        self.out_of_sight = frozenset(
            position
            for position, type in enumerate(declared)
            if type.kind != "pointer" or type.target.const or type.target.kind == "function"
        )
        """Positions of arguments through which it can write nothing that the program sees."""

    def __bool__(self) -> bool:
        return bool(self.extents) or self.others

    def of_call(self, arguments: tuple[Value, ...]) -> list[Written]:
        """What a call writes; decides everything that needs a decision."""
        found = []
        for number, value in enumerate(arguments):
            if number in self.extents:
                written = self._written(number, value, self.extents[number], arguments)
            elif self.others and number not in self.out_of_sight and is_memory(value):
                written = self._written(number, value, None, arguments)
            else:
                continue
            if written is not None and written.size:
                found.append(written)
        return found

    def _written(
        self, number: int, value: Value, extent: Extent | None, arguments: tuple[Value, ...]
    ) -> Written | None:
        address = value
        if address.__class__ is Expr:
            address = self.api.pick(address, 64, f"pointer given to {self.name}")
        if address == 0:
            return None
        type = self.pointee(number)
        if extent is None:
            size, text = self._reach(address, type)
            return Written(number, address, size, type, text)
        if extent.argument is not None:
            if extent.argument >= len(arguments):
                return None
            length = resize(arguments[extent.argument], 64)
            what = f"size given to {self.name}"
            return Written(number, address, resolve_length(self.api, length, what, writes=(address,)), type)
        return Written(number, address, extent.size or (type.size if type is not None else 0), type)

    def pointee(self, number: int) -> CType | None:
        if self.prototype is None:
            return None
        if self.hidden and number == 0:
            return self.prototype.target
        position, parameters = number - self.hidden, self.prototype.parameters
        if position >= len(parameters) or parameters[position].kind != "pointer":
            return None
        return parameters[position].target

    def _reach(self, address: int, type: CType | None) -> tuple[int, bool]:
        """How many bytes may be written from an address on, and whether they are text."""
        info = self.api.memory.find(address >> 32)
        offset = address & 0xFFFFFFFF
        if info is None or info.end or info.readonly or offset >= info.size or info.site.kind == "function":
            return 0, False
        room, characters = _room(info, offset)
        left = info.size - offset
        if type is None:
            pass  # an argument without a declaration: what the object itself tells
        elif type.kind in _AGGREGATES and type.size:
            room, characters = min(left, type.size), False
        elif type.size > 1 and type.kind not in ("void", "opaque", "function"):
            room, characters = (min(left, type.size) if room % type.size else room), False
        elif type.kind == "int" and type.size == 1:
            characters = is_character(type)
        else:
            room, characters = left, False
        if room > LARGEST:
            self.api.lose("an unknown function writes to a large object")
        return min(room, LARGEST), characters


_AGGREGATES = ("struct", "union")


def _declared(function: Function | None, said: dict[int, Extent | None]) -> dict[int, Extent | None]:
    """Parameters that the prototype itself says are written."""
    found: dict[int, Extent | None] = {}
    for number, attrs in enumerate(function.param_attrs if function is not None else ()):
        if attrs is None or number in said:
            continue
        if attrs.sret is not None:
            found[number] = Extent(attrs.sret.size)
        elif "writeonly" in attrs.names:
            found[number] = Extent()
    return found


def is_memory(value: Value) -> bool:
    """Does an argument lead to an object?"""
    if value.__class__ is int:
        return bool(nearest(value))
    return value.__class__ is Expr and any(base_numbers(value) or ())


def _room(info: ObjectInfo, offset: int) -> tuple[int, bool]:
    """Bytes from an offset to the end of the array or scalar that lies there, and whether it is an array of
    characters; to the end of an object whose type is not known."""
    type, size = info.site.type, info.size
    if not isinstance(type, Type) or type.size != size:
        return size - offset, False
    while True:
        if isinstance(type, StructType) and type.fields:
            at = max(n for n, start in enumerate(type.offsets) if start <= offset)
            offset -= type.offsets[at]
            type = type.fields[at]
        elif isinstance(type, ArrayType) and isinstance(type.element, ArrayType | StructType):
            within = offset % max(1, type.element.size)
            if not within and not isinstance(type.element, ArrayType):
                return type.size - offset, False
            type, offset = type.element, within
        else:
            characters = isinstance(type, ArrayType) and type.element.size == 1
            return max(0, type.size - offset), characters

"""What unknown objects are filled with: scalars named by the C expressions that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, byte_parts
from anabranch.ir.source_types import CType
from anabranch.machine.objects import AllocationSite

if TYPE_CHECKING:
    from anabranch.environment.unknown.objects import UnknownObjects

Value = Any


@dataclass(frozen=True, slots=True)
class Place:
    """A scalar of an unknown object: where it lies, what it is called, its value."""

    offset: int
    size: int
    name: str
    value: Value  # of 8 * size bits: a variable, or the choice of a pointer
    kind: str = ""  # "pointer" or the name of the C type


@dataclass(slots=True, eq=False)
class UnknownObject:
    """An object made on demand. `invented`: its size is the engine's choice, not the type's."""

    number: int
    size: int
    pointer: str  # the C expression that leads to it
    type: CType | None
    depth: int
    origin: str  # "argument", "global" or "answer"
    site: AllocationSite
    invented: bool = False
    terminated: bool = False
    function: CType | None = None

    @property
    def address(self) -> int:
        return self.number << 32


@dataclass(frozen=True, slots=True)
class Contents:
    """What an unknown object was filled with on a path."""

    made: UnknownObject
    places: tuple[Place, ...]
    size: int
    invented: bool


class ContentsMaker:
    """Collects the scalars of one object, in order, padding left out."""

    def __init__(
        self,
        objects: UnknownObjects,
        key: tuple[Any, ...],
        made: UnknownObject | None = None,
        pointed: str = "",
    ) -> None:
        """`key` tells its pointers from all others; `pointed` is the C expression of a pointer to it."""
        self.objects = objects
        self.pointed = pointed
        self.key = key
        self.depth = made.depth if made is not None else 0
        self.origin = made.origin if made is not None else "answer"
        self.places: list[Place] = []
        self.variables: list[Expr] = []

    def behind(self, type: CType, size: int, terminated: bool) -> None:
        """All of an object that the pointer leads to."""
        unit = type.size
        if type.kind in ("struct", "union", "array"):
            self.value(type, f"(*{self.pointed})", 0)
            self.bytes(f"(*{self.pointed}).more", unit, size - unit)
            return
        for index in range(size // unit):
            self.value(type, f"{self.pointed}[{index}]", index * unit)
        if terminated:
            self.places[-1] = Place(size - 1, 1, self.places[-1].name, 0, "char")
            self.variables.pop()

    def value(self, type: CType, name: str, offset: int) -> None:
        kind = type.kind
        if kind == "pointer":
            self.pointer(type, name, offset)
        elif kind in ("int", "float") and type.size in (1, 2, 4, 8, 16):
            self.scalar(name, offset, type.size, type.name)
        elif kind == "array":
            element = type.target
            for index in range(type.count):
                self.value(element, f"{name}[{index}]", offset + index * element.size)
        elif kind == "struct":
            self.struct(type, name, offset)
        elif kind == "union" and type.members:
            first = type.members[0]
            self.value(first.type, self.member(name, first.name), offset)
            self.bytes(f"{name}.rest", offset + first.type.size, type.size - first.type.size)
        else:
            self.bytes(name, offset, type.size)

    def struct(self, type: CType, name: str, offset: int) -> None:
        done = 0
        for member in type.members:
            if member.bits or member.offset < done:
                continue  # bit-fields are made as bytes, with the gaps between other members
            self.bytes(f"{name}.gap{done}", offset + done, member.offset - done, gap=True)
            self.value(member.type, self.member(name, member.name), offset + member.offset)
            done = member.offset + member.type.size
        self.bytes(f"{name}.gap{done}", offset + done, type.size - done, gap=True)

    def member(self, name: str, member: str) -> str:
        """The C expression for a member; unnamed ones are transparent."""
        if not member:
            return name
        return f"{self.pointed}->{member}" if name == f"(*{self.pointed})" else f"{name}.{member}"

    def scalar(self, name: str, offset: int, size: int, kind: str) -> None:
        variable = self.objects.variable(name, 8 * size, self.origin)
        value = expr.and_(variable, 1, 8) if kind == "_Bool" else variable
        self.places.append(Place(offset, size, name, value, kind))
        self.variables.append(variable)

    def bytes(self, name: str, offset: int, count: int, gap: bool = False) -> None:
        for index in range(count):
            self.scalar(f"{name}[{index}]", offset + index, 1, "gap" if gap else "byte")

    def pointer(self, type: CType, name: str, offset: int) -> None:
        value, variables = self.objects.pointer(
            type.target, name, (*self.key, offset), self.depth + 1, self.origin, null=True
        )
        self.places.append(Place(offset, 8, name, value, "pointer"))
        self.variables += variables


def parts_of(value: Value, size: int) -> Sequence[Value]:
    """The bytes of a scalar, low first."""
    if value.__class__ is Expr:
        return (value,) if size == 1 else byte_parts(value)
    return int(value).to_bytes(size, "little")

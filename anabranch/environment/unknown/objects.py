"""Lazily initialised objects (seed 000, section 4.3): an unknown pointer leads to an object of its type whose
contents are made when they are first accessed.

A pointer has its target's address from the start, so that addresses stay plain numbers: null or not is one
byte of the input, `ite(choice == 0, 0, address)`. The object behind it is *reserved*: it has a size, but no
pages, and the first access to a missing page fills all of it with symbols named by the C expression that
leads there (`list->next->value`). Names are the same on every path, so that paths can be compared and joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from anabranch import expr
from anabranch.environment.unknown.bases import BaseChooser
from anabranch.expr import Expr
from anabranch.ir.source_types import CType, SourceTypes
from anabranch.machine.ends import Loss
from anabranch.machine.machine import Machine
from anabranch.machine.memory import PAGE_SIZE, byte_parts
from anabranch.machine.objects import AllocationSite, ObjectInfo
from anabranch.machine.path import Input

Value = Any

LARGEST = 1 << 16  # bytes of an object made whole; contents of what is larger are not modelled
ALIASES = 4  # objects made before that a pointer may lead to, with `alias`
MADE = "unknown objects"
"""Note, with `alias`: (type, address) of the objects that pointers may lead to."""


@dataclass(frozen=True, slots=True)
class UnknownSettings:
    """How unknown objects are made."""

    depth: int = 4  # pointers followed from an argument, a global or an answer
    buffer_size: int = 16  # bytes behind pointers to characters, numbers and things without a type
    alias: bool = False  # may two pointers of a type lead to the same object?


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


class UnknownObjects:
    """Reserves and fills the unknown objects of one machine."""

    def __init__(self, machine: Machine, settings: UnknownSettings) -> None:
        self.machine = machine
        self.memory = machine.memory
        self.settings = settings
        self.types = SourceTypes(machine.module.debug)
        self.by_number: dict[int, UnknownObject] = {}
        self._by_key: dict[tuple[Any, ...], UnknownObject] = {}
        self._names: dict[str, tuple[Any, ...]] = {}
        self.origins: dict[int, str] = {}
        """Where variables come from, by index: "argument", "global" or "answer"."""
        self.contents: dict[int, Contents] = {}
        """What objects are filled with on their first access; the same on all paths, aliases apart."""
        machine.memory.absent = self.fill
        machine.addresses.choose_base = BaseChooser(machine).choose

    # ---- pointers ------------------------------------------------------------------------------------

    def pointer(
        self, target: CType | None, name: str, key: tuple[Any, ...], depth: int, origin: str, null: bool
    ) -> tuple[Value, list[Expr]]:
        """The value of an unknown pointer and the variables it needs; reserves the object behind it."""
        made = self.reserve(target, name, key, depth, origin)
        choices = [made.address, *self._aliases(made)]
        if len(choices) == 1 and not null:
            return made.address, []
        choice = self.variable(f"{name} (which)", 8, origin)
        value: Value = made.address
        for number, address in enumerate(choices[1:], 2):
            value = expr.ite(expr.eq(choice, number, 8), address, value, 64)
        if null:
            value = expr.ite(expr.eq(choice, 0, 8), 0, value, 64)
        return value, [choice]

    def variable(self, name: str, width: int, origin: str) -> Expr:
        """A variable of the input that comes from somewhere."""
        variable: Expr = expr.var(name, width)
        self.origins[variable.a] = origin
        return variable

    def _aliases(self, made: UnknownObject) -> list[int]:
        """Objects of the same type that the pointer may lead to instead."""
        if not self.settings.alias or made.function is not None:
            return []
        path = self.machine.path
        kind = made.type.number if made.type is not None else ""
        known: tuple[tuple[str, int], ...] = path.notes.get(MADE, ())
        earlier = [address for type, address in known if type == kind and address != made.address]
        if (kind, made.address) not in known:
            path.notes = path.notes.set(MADE, (*known, (kind, made.address)))
        return earlier[-ALIASES:]

    def reserve(
        self, target: CType | None, name: str, key: tuple[Any, ...], depth: int, origin: str
    ) -> UnknownObject:
        """The object that a pointer called `name` leads to; on this path it now exists."""
        made = self._by_key.get(key)
        if made is None:
            made = self._by_key[key] = self._new(target, name, key, depth, origin)
            self.by_number[made.number] = made
        self.memory.reserve(made.number, made.size, made.site)
        return made

    def adopt(self, number: int, type: CType | None, name: str, key: tuple[Any, ...]) -> UnknownObject:
        """Make an object that exists, a global variable, an unknown one: its contents are forgotten."""
        info = self.memory.find(number)
        assert info is not None
        made = self._by_key.get(key)
        if made is None:
            site = replace(info.site, first={})
            made = UnknownObject(number, info.size, f"&{name}", type, 0, "global", site)
            self._by_key[key] = self.by_number[number] = made
            self._names.setdefault(name, key)
        self.memory.forget(info)
        self.memory.fresh[number] = ObjectInfo(number, info.size, made.site)
        return made

    def _new(
        self, target: CType | None, name: str, key: tuple[Any, ...], depth: int, origin: str
    ) -> UnknownObject:
        name = self._unique(name, key)
        numbers = self.machine.numbers
        if target is not None and target.kind == "function":
            site = numbers.new_site("function", f"*{name}")
            return UnknownObject(
                numbers.number(site, 1), 0, name, target, depth, origin, site, function=target
            )
        size, invented = self._size(target)
        site = numbers.new_lazy_site("heap", f"*{name}")
        made = UnknownObject(numbers.number(site, 1), size, name, target, depth, origin, site, invented)
        made.terminated = invented and target is not None and target.kind == "int" and is_character(target)
        return made

    def _unique(self, name: str, key: tuple[Any, ...]) -> str:
        while self._names.setdefault(name, key) != key:
            name += "'"
        return name

    def _size(self, target: CType | None) -> tuple[int, bool]:
        """Bytes of an object, and whether that is invented: one struct, but a buffer of anything smaller."""
        unit = target.size if target is not None else 0
        wanted = self.settings.buffer_size
        if target is not None and target.kind in ("struct", "union", "array") and unit:
            return (unit + wanted, True) if is_flexible(target) else (unit, False)
        unit = unit or 1
        return max(unit, (wanted + unit - 1) // unit * unit), True

    # ---- contents ------------------------------------------------------------------------------------

    def fill(self, key: int) -> Any:
        """A page of an object without pages: all of it is made now. None if the object is none of these."""
        made = self.by_number.get(key >> 24)
        if made is None:
            return None
        info = self.memory.find(made.number)
        if info is None or info.end or made.function is not None:
            return None
        if made.depth > self.settings.depth:
            raise Loss("limit of --depth", "unknown objects further away")
        if made.size > LARGEST:
            raise Loss("unsupported", f"unknown object of {made.size} bytes")
        places = self._places(made)
        data: list[Value] = [0] * made.size
        for place in places:
            data[place.offset : place.offset + place.size] = parts_of(place.value, place.size)
        first = made.site.first
        for start in range(0, max(1, made.size), PAGE_SIZE):
            number = (made.address + start) >> 8
            page = self.memory.S[number] = data[start : start + PAGE_SIZE]
            if info.readonly:
                self.memory.pages = self.memory.pages.set(number, page)
            else:
                self.memory.W[number] = page
            if first is not None and not self.settings.alias:
                first[number] = page[:]
        return self.memory.S.get(key)

    def _places(self, made: UnknownObject) -> list[Place]:
        """The scalars of an object; records their variables as an input of the path."""
        maker = _Maker(self, made)
        if made.type is None or made.type.size == 0 or made.type.kind in ("void", "opaque", "function"):
            maker.bytes(made.pointer.removeprefix("&"), 0, made.size)
        elif made.origin == "global" and made.depth == 0:
            maker.value(made.type, made.pointer.removeprefix("&"), 0)
            maker.bytes(f"{made.pointer}.more", made.type.size, made.size - made.type.size)
        else:
            maker.behind(made, made.type)
        name, variables = f"*{made.pointer}", tuple(maker.variables)
        size = sum(variable.w // 8 for variable in variables)
        about = self.contents[made.number] = Contents(made, tuple(maker.places))
        self.machine.api.add_input(Input(name, size, variables, "object", name, about))
        return maker.places

    def value_of(self, type: CType, name: str, key: tuple[Any, ...]) -> tuple[list[Place], list[Expr]]:
        """The scalars of a value that an unknown function wrote, and their variables."""
        maker = _Maker(self, None, key)
        maker.value(type, name, 0)
        return maker.places, maker.variables


class _Maker:
    """Collects the scalars of one object, in order, padding left out."""

    def __init__(
        self, objects: UnknownObjects, made: UnknownObject | None, key: tuple[Any, ...] = ()
    ) -> None:
        self.objects = objects
        self.pointed = made.pointer if made is not None else ""
        self.key = key if made is None else (made.number,)
        self.depth = made.depth if made is not None else 0
        self.origin = made.origin if made is not None else "answer"
        self.places: list[Place] = []
        self.variables: list[Expr] = []

    def behind(self, made: UnknownObject, type: CType) -> None:
        """All of an object that a pointer leads to."""
        unit = type.size
        if type.kind in ("struct", "union", "array"):
            self.value(type, f"(*{made.pointer})", 0)
            self.bytes(f"(*{made.pointer}).more", unit, made.size - unit)
            return
        for index in range(made.size // unit):
            self.value(type, f"{made.pointer}[{index}]", index * unit)
        if made.terminated:
            self.places[-1] = Place(made.size - 1, 1, self.places[-1].name, 0, "char")
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


def is_flexible(type: CType) -> bool:
    """Does a struct end in an array without a size?"""
    last = type.members[-1].type if type.kind == "struct" and type.members else None
    return last is not None and last.kind == "array" and not last.size


def is_character(type: CType) -> bool:
    """Plain `char`, of which strings are made; `signed char` and `unsigned char` are small numbers."""
    return type.size == 1 and type.name == "char"


def parts_of(value: Value, size: int) -> Sequence[Value]:
    """The bytes of a scalar, low first."""
    if value.__class__ is Expr:
        return (value,) if size == 1 else byte_parts(value)
    return int(value).to_bytes(size, "little")

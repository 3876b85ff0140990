"""Lazily initialised objects (Li et al., 4.3): an unknown pointer leads to an object of its type whose
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
from anabranch.environment.unknown.contents import Contents, ContentsMaker, Place, UnknownObject, parts_of
from anabranch.environment.unknown.views import Views
from anabranch.expr import Expr, expr_vars
from anabranch.ir.source_types import CType, SourceTypes
from anabranch.ir.types import FloatType, IntType, Type
from anabranch.machine.ends import Loss
from anabranch.machine.machine import Machine
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.pages import PAGE_SIZE
from anabranch.machine.path import Input
from anabranch.semantics.elements import FLOATS

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
        self.views = Views(machine, self.types)
        machine.memory.absent = self.fill
        machine.memory.widen = self.widen
        machine.memory.unsized = self
        machine.addresses.strict = True

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

    def scalar(self, type: Type, name: str, origin: str) -> tuple[Value, Expr] | None:
        """A number of a type that may be anything, and its variable; None if there are no such variables."""
        if not isinstance(type, IntType | FloatType) or (
            isinstance(type, FloatType) and type.kind not in FLOATS
        ):
            return None
        width = (type.bits + 7) // 8 * 8
        variable = self.variable(name, width, origin)
        if type.bits == 1:
            return expr.eq(expr.and_(variable, 1, width), 1, width), variable
        return variable if width == type.bits else expr.extract(variable, 0, type.bits, width), variable

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
            if not info.size:  # an array of unknown length
                made.size, made.invented = self._size(None)[0], True
                made.type = None
            self._by_key[key] = self.by_number[number] = made
            self._names.setdefault(name, key)
        self.memory.forget(info)
        self.memory.fresh[number] = ObjectInfo(number, made.size, made.site)
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

    def may_be_larger(self, info: ObjectInfo) -> bool:
        """Is the size of an object the engine's choice, on the running path too?"""
        made = self.by_number.get(info.id)
        return made is not None and made.invented and info.size == made.size

    def ends_here(self, info: ObjectInfo, write: bool) -> bool:
        """Has the running path found the NUL of a string, so that nothing needs to lie behind it?

        Whoever writes behind a NUL appends to a string, and knows of a buffer that is larger.
        """
        made = self.by_number[info.id]
        contents = self.contents.get(info.id)
        if write or not made.terminated or contents is None:
            return False
        found = [self._is_nul(place.value) for place in contents.places[:-1]]
        return True in found or None not in found

    def _is_nul(self, byte: Expr) -> bool | None:
        """Is a byte 0 on the running path? None if it may be and may not."""
        _, answer = self.machine.decider.ask(expr.eq(byte, 0, 8))
        return answer if answer.__class__ is bool else None

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
        seen = self._seen(made, info)
        contents = self._contents(made) if seen is None else self._viewed(made, seen, 0)
        if contents.size != info.size:
            self.memory.fresh[made.number] = ObjectInfo(made.number, contents.size, info.site)
        first = made.site.first if seen is None and not self.settings.alias else None
        data = laid_out(contents)
        for start in range(0, max(1, len(data)), PAGE_SIZE):
            number = (made.address + start) >> 8
            page = self.memory.S[number] = data[start : start + PAGE_SIZE]
            if info.readonly:
                self.memory.pages = self.memory.pages.set(number, page)
            else:
                self.memory.W[number] = page
            if first is not None:
                first[number] = page[:]
        return self.memory.S.get(key)

    def widen(self, info: ObjectInfo) -> ObjectInfo:
        """Before an access beyond an object: made larger, if the code sees it as something larger.

        C code casts pointers to what it knows they lead to: to a struct that begins with the one declared,
        or from a type that is known by name only.
        """
        made = self.by_number.get(info.id)
        if made is None or made.function is not None or info.end or info.readonly:
            return info
        self.memory.page(made.address >> 8)
        info = self.memory.find(info.id) or info
        seen = self._seen(made, info)
        if seen is None or seen.size <= info.size:
            return info
        data = laid_out(self._viewed(made, seen, info.size))
        start = info.size
        while start < seen.size:
            number, within = (made.address + start) >> 8, start % PAGE_SIZE
            count = min(PAGE_SIZE - within, seen.size - start)
            before = self.memory.page(number) if within else None
            page = [*(before or ()), *data[start : start + count]]
            self.memory.S[number] = self.memory.W[number] = page
            start += count
        grown = self.memory.fresh[info.id] = ObjectInfo(info.id, seen.size, info.site)
        return grown

    def _seen(self, made: UnknownObject, info: ObjectInfo) -> CType | None:
        """The struct that the running instruction takes an object for, if that tells more than its type."""
        if made.origin == "global" and not made.depth:
            return None
        seen = self.views.struct_at(made.address)
        if seen is None or not (made.invented or seen.size > info.size):
            return None
        return None if seen is made.type else seen

    def _contents(self, made: UnknownObject) -> Contents:
        """What an object of its own type is filled with."""
        if made.size > LARGEST:
            raise Loss("unsupported", "very large unknown object")
        maker = ContentsMaker(self, (made.number,), made, made.pointer)
        if made.type is None or made.type.size == 0 or made.type.kind in ("void", "opaque", "function"):
            maker.bytes(made.pointer.removeprefix("&"), 0, made.size)
        elif made.origin == "global" and made.depth == 0:
            maker.value(made.type, made.pointer.removeprefix("&"), 0)
            maker.bytes(f"{made.pointer}.more", made.type.size, made.size - made.type.size)
        else:
            maker.behind(made.type, made.size, made.terminated)
        self.contents[made.number] = found = self._recorded(
            Contents(made, tuple(maker.places), made.size, made.invented), f"*{made.pointer}", maker.variables
        )
        return found

    def _viewed(self, made: UnknownObject, seen: CType, start: int) -> Contents:
        """What an object is filled with, from an offset on, where the code takes it for another type."""
        if seen.size > LARGEST:
            raise Loss("unsupported", "very large unknown object")
        pointer = f"(({seen.name or 'struct'} *){made.pointer})"
        maker = ContentsMaker(self, (made.number, seen.number), made, pointer)
        maker.value(seen, f"(*{pointer})", 0)
        places = [place for place in maker.places if place.offset >= start]
        if places:
            maker.bytes(f"{pointer}.rest", start, places[0].offset - start)
            places = [place for place in maker.places if place.offset >= start]
        used = {i for place in places if place.value.__class__ is Expr for i in expr_vars(place.value)}
        variables = [variable for variable in maker.variables if variable.a in used]
        return self._recorded(Contents(made, tuple(places), seen.size, False), f"*{pointer}", variables)

    def _recorded(self, contents: Contents, name: str, variables: Sequence[Expr]) -> Contents:
        size = sum(variable.w // 8 for variable in variables)
        self.machine.api.add_input(Input(name, size, tuple(variables), name, about=contents))
        return contents

    def value_of(self, type: CType, name: str, key: tuple[Any, ...]) -> tuple[list[Place], list[Expr]]:
        """The scalars of a value that an unknown function wrote, and their variables."""
        maker = ContentsMaker(self, key)
        maker.value(type, name, 0)
        return maker.places, maker.variables


def laid_out(contents: Contents) -> list[Value]:
    """The bytes of an object; gaps are zero."""
    data: list[Value] = [0] * contents.size
    for place in contents.places:
        data[place.offset : place.offset + place.size] = parts_of(place.value, place.size)
    return data


def is_flexible(type: CType) -> bool:
    """Does a struct end in an array without a size?"""
    last = type.members[-1].type if type.kind == "struct" and type.members else None
    return last is not None and last.kind == "array" and not last.size


def is_character(type: CType) -> bool:
    """Plain `char`, of which strings are made; `signed char` and `unsigned char` are small numbers."""
    return type.size == 1 and type.name == "char"

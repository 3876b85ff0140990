"""What writes memory, and what it makes of a location that is read later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anabranch.check.places import Place, multiple_of, offset_range
from anabranch.expr import (
    Expr,
    Value,
    add,
    bool_and,
    eq,
    extract,
    ite,
    join_bytes,
    not_,
    sub,
    trunc,
    ult,
    zext,
)
from anabranch.ir.debug import DebugLoc

if TYPE_CHECKING:
    from anabranch.check.memory import MemoryOf
    from anabranch.check.walk import WalkOfUndefined

Hits = list[tuple[Value, Value]]
"""Values that an event gives to a location, each under a condition; later ones hold where earlier do not."""
Extent = set[tuple[int, int]] | None
"""Parts of an object, as offset and bytes; None: any."""

GHOST = 1 << 63
"""The offset of a location that is not in memory: has the object been freed? See `freeing`."""


class Split(Exception):
    """A location is written in parts: it must be read byte by byte."""


@dataclass(frozen=True, slots=True)
class Location:
    base: Expr
    offset: Value
    width: int

    @property
    def bytes(self) -> int:
        return (self.width + 7) // 8


class Event:
    """Something that writes memory, at one position of a node."""

    def bases(self) -> Iterable[Expr]:
        """The bases that it may write, if they are known one by one."""
        return ()

    def everything(self) -> bool:
        """May it write what is not among `bases`?"""
        return False

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        """What it makes of a location."""
        return []

    def ghost_hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        """What it makes of a ghost location."""
        return []

    def undefined_hits(self, walk: WalkOfUndefined, node: int, position: int, at: Location) -> Hits:
        """Conditions under which it writes a location, each with that under which the value is undefined."""
        return [(c, walk.undefined(value)) for c, value in self.hits(walk.memory, node, position, at)]


def _relation(memory: MemoryOf, at: Location, offset: Value, size: int) -> tuple[str, Value]:
    """How a location lies to `size` bytes written at `offset` of its base: disjoint, inside, maybe or
    partly."""
    delta = sub(at.offset, offset, 64)
    if delta.__class__ is not Expr:
        distance = delta - (1 << 64) if delta >> 63 else delta
        if distance >= size or distance + at.bytes <= 0:
            return "disjoint", 0
        if distance >= 0 and distance + at.bytes <= size:
            return "inside", distance
        return "partly", 0
    return "maybe", delta


@dataclass(eq=False, slots=True)
class Store(Event):
    """A value of `width` bits at some places."""

    places: tuple[Place, ...]
    width: int
    value: Value
    loc: DebugLoc | None

    def bases(self) -> Iterable[Expr]:
        return [place.base for place in self.places if place.base is not None]

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        found: Hits = []
        size = (self.width + 7) // 8
        for place in self.places:
            if place.base is not at.base:
                continue
            relation, distance = _relation(memory, at, place.offset, size)
            if relation == "disjoint":
                continue
            if relation == "inside":
                whole = distance == 0 and at.width == self.width
                found.append((place.condition, self.value if whole else self._part(distance, at.width)))
            elif relation == "partly":
                if at.width == 8:
                    raise AssertionError("a byte is never written in part")
                raise Split
            else:
                found += self._maybe(memory, at, place, distance, size)
        return found

    def _part(self, distance: int, width: int) -> Value:
        value = self.value
        if self.width == 1:
            value = ite(value, 1, 0, 8)
            return value if width == 8 else trunc(value, 8, width)
        if self.width % 8:  # bits beyond the value in its last byte are zero
            value = zext(value, self.width, (self.width + 7) // 8 * 8)
        if width < 8:
            return trunc(extract(value, distance * 8, 8), 8, width)
        return extract(value, distance * 8, width)

    def _maybe(self, memory: MemoryOf, at: Location, place: Place, delta: Expr, size: int) -> Hits:
        """A store or a read at a symbolic offset: by the distances at which they meet."""
        found: Hits = []
        bounds = offset_range(delta)
        if bounds is not None and (bounds[0] >= size and bounds[1] < 1 << 63):
            return found
        if at.width == self.width:
            if size == 1 or multiple_of(delta, size):
                return [(bool_and(place.condition, eq(delta, 0, 64)), self.value)]
        elif at.bytes <= size and multiple_of(delta, at.bytes):
            for distance in range(0, size, at.bytes):
                same = bool_and(place.condition, eq(delta, distance, 64))
                found.append((same, self._part(distance, at.width)))
            return found
        if at.width > 8:
            raise Split
        raise AssertionError("a byte lies at a symbolic distance in a value or not at all")


@dataclass(eq=False, slots=True)
class Fill(Event):
    """`memset`: a byte over a range, whose length may be symbolic."""

    places: tuple[Place, ...]
    size: Value
    byte: Value
    loc: DebugLoc | None

    def bases(self) -> Iterable[Expr]:
        return [place.base for place in self.places if place.base is not None]

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        found: Hits = []
        for place in self.places:
            if place.base is not at.base:
                continue
            inside, outside = _in_range(at, place.offset, self.size)
            if outside is True:
                continue
            if inside is True or at.width == 8:
                value = join_bytes([self.byte] * at.bytes) if at.bytes > 1 else self.byte
                value = value if at.width >= 8 else trunc(value, 8, at.width)
                found.append((bool_and(place.condition, inside), value))
            else:
                raise Split
        return found


@dataclass(eq=False, slots=True)
class Copy(Event):
    """`memcpy` and `memmove`."""

    places: tuple[Place, ...]
    sources: tuple[Place, ...]
    size: Value
    loc: DebugLoc | None

    def bases(self) -> Iterable[Expr]:
        return [place.base for place in self.places if place.base is not None]

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        return [
            (condition, memory.read_places(node, position, sources, at.width, self.loc))
            for condition, sources in self._moved(at)
        ]

    def undefined_hits(self, walk: WalkOfUndefined, node: int, position: int, at: Location) -> Hits:
        return [
            (condition, walk.memory.undefined(node, position, sources, at.width))
            for condition, sources in self._moved(at)
        ]

    def _moved(self, at: Location) -> list[tuple[Value, tuple[Place, ...]]]:
        """Where what is at a location comes from, under conditions."""
        found: list[tuple[Value, tuple[Place, ...]]] = []
        for place in self.places:
            if place.base is not at.base:
                continue
            inside, outside = _in_range(at, place.offset, self.size)
            if outside is True:
                continue
            if inside is not True and at.width != 8:
                raise Split
            shift = sub(at.offset, place.offset, 64)
            moved = tuple(
                Place(p.condition, p.base, None if p.offset is None else add(p.offset, shift, 64))
                for p in self.sources
            )
            found.append((bool_and(place.condition, inside), moved))
        return found


def _in_range(at: Location, start: Value, size: Value) -> tuple[Value, Value]:
    """Is a location inside `size` bytes from `start`, and is it outside?"""
    delta = sub(at.offset, start, 64)
    if delta.__class__ is not Expr and delta >> 63:
        distance = delta - (1 << 64)
        return False, distance + at.bytes <= 0
    outside = not_(ult(delta, size, 64))
    if at.bytes == 1:
        return ult(delta, size, 64), outside
    last = add(delta, at.bytes - 1, 64)
    return bool_and(ult(delta, size, 64), ult(last, size, 64)), bool_and(outside, not_(ult(last, size, 64)))


@dataclass(eq=False, slots=True)
class Havoc(Event):
    """Unknown values in some objects, or in everything that others can reach."""

    known: frozenset[Expr]
    all_shared: bool
    """Everything but objects that no pointer leads to."""
    condition: Value
    reason: str
    loc: DebugLoc | None
    input: bool = False
    """The values are inputs of the program."""

    def bases(self) -> Iterable[Expr]:
        return sorted(self.known, key=lambda base: base.id)

    def everything(self) -> bool:
        return self.all_shared

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        if at.base not in self.known and not (self.all_shared and memory.shared(at.base)):
            return []
        value = memory.unknown(node, position, at, self.reason, self.loc, at.width == 64, self.input)
        return [(self.condition, value)]

    def undefined_hits(self, walk: WalkOfUndefined, node: int, position: int, at: Location) -> Hits:
        known = at.base in self.known or (self.all_shared and walk.memory.shared(at.base))
        return [(self.condition, False)] if known else []

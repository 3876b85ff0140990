"""Memory of one function, read lazily.

Algorithm 2 merges every location at the iterated dominance frontiers of its writes. Here nodes keep
*events* (stores, calls, unknown writes) and a location is merged when somebody reads it: `read` walks back
through the events, jumps from a join to its immediate dominator if no node between writes the base, and
else merges the predecessors under their conditions. The caller's memory at a call can thus be read later,
when a summary is opened there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anabranch.check.graph import AcyclicGraph
from anabranch.check.leaves import GlobalObject, Leaves, LocalObject, Memory
from anabranch.check.places import Place, Places, multiple_of, offset_range
from anabranch.expr import (
    Expr,
    Value,
    add,
    bool_and,
    bool_or,
    eq,
    extract,
    ite,
    join_bytes,
    not_,
    sub,
    trunc,
    ult,
)
from anabranch.ir.debug import DebugLoc

Hits = list[tuple[Value, Value]]
"""Values that an event gives to a location, each under a condition; later ones hold where earlier do not."""
Extent = set[tuple[int, int]] | None
"""Parts of an object, as offset and bytes; None: any."""

GHOST = 1 << 63
"""The offset of a location that is not in memory: has the object been freed? See `freeing`."""
MAX_DEPTH = 4
"""Dereferences from a parameter or a global up to which input memory has a name."""


MAX_ELEMENTS = 16
"""Elements of an array up to which a read at a symbolic index is a choice between all."""


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
            from anabranch.expr import zext

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
        found: Hits = []
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
            value = memory.read_places(node, position, moved, at.width, self.loc)
            found.append((bool_and(place.condition, inside), value))
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
    values: dict[tuple[Expr, Value, int], Expr] = field(default_factory=dict)

    def bases(self) -> Iterable[Expr]:
        return self.known

    def everything(self) -> bool:
        return self.all_shared

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        if at.base not in self.known and not (self.all_shared and memory.shared(at.base)):
            return []
        key = (at.base, at.offset, at.width)
        value = self.values.get(key)
        if value is None:
            pointer = at.width == 64
            value = memory.leaves.unknown(at.width, self.reason, self.loc, pointer, input=self.input)
            self.values[key] = value
        return [(self.condition, value)]


class MemoryOf:
    """The memory of one function under symbolic execution."""

    def __init__(
        self,
        leaves: Leaves,
        places: Places,
        graph: AcyclicGraph,
        initial_global: Callable[[str, int, int], Value | None],
        size_of: Callable[[Expr], int | None],
    ) -> None:
        self.leaves = leaves
        self.places = places
        self.graph = graph
        self.initial_global = initial_global
        self.size_of = size_of
        count = len(graph.nodes)
        self.events: list[list[Event]] = [[] for _ in range(count)]
        self.written: list[set[Expr]] = [set() for _ in range(count)]
        self.anything: list[bool] = [False] * count
        self.joins: list[list[tuple[int, Value]] | None] = [None] * count
        """For a node with several predecessors: each with its condition relative to the immediate
        dominator."""
        self.private: set[Expr] = set()
        """Local variables whose address nothing else knows."""
        self.accessed: set[Expr] = set()
        self._regions: dict[int, set[int]] = {}
        self._entry: dict[tuple[int, Expr, Value, int], Value] = {}
        self._initial: dict[tuple[Expr, Value, int], Value] = {}
        self._given_up: dict[tuple[int, Expr, Value, int], Expr] = {}

    # -- writing ----------------------------------------------------------------------------------------

    def append(self, node: int, event: Event) -> None:
        self.events[node].append(event)
        self.written[node].update(event.bases())
        if event.everything():
            self.anything[node] = True

    def shared(self, base: Expr) -> bool:
        return base not in self.private

    # -- reading ----------------------------------------------------------------------------------------

    def read_address(self, node: int, position: int, address: Value, width: int) -> Value:
        return self.read_places(node, position, self.places.of(address), width, None)

    def read_places(
        self, node: int, position: int, places: tuple[Place, ...], width: int, loc: DebugLoc | None
    ) -> Value:
        result: Value = None
        for place in reversed(places):
            if place.base is None or place.offset is None:
                value: Value = self.leaves.unknown(width, "memory at an unknown address", loc)
            else:
                value = self.read(node, position, place.base, place.offset, width)
            result = value if result is None else ite(place.condition, value, result, width)
        return result

    def read(self, node: int, position: int, base: Expr, offset: Value, width: int) -> Value:
        """The value of a location before the event at `position` of a node."""
        self.accessed.add(base)
        if width < 8 or width % 8:
            whole = self.read(node, position, base, offset, (width + 7) // 8 * 8)
            return trunc(whole, (width + 7) // 8 * 8, width)
        if offset.__class__ is Expr:
            element = self._element(node, position, Location(base, offset, width))
            if element is not None:
                return element
        return self._whole(node, position, Location(base, offset, width))

    def _element(self, node: int, position: int, at: Location) -> Value | None:
        """An element at a symbolic index that has few values: a choice between all of them."""
        step, size = at.bytes, self.size_of(at.base)
        bounds = offset_range(at.offset)
        if bounds is None and size is not None:
            bounds = (0, size - step)  # anything else is an error of its own
        elif bounds is not None and size is not None:
            bounds = (bounds[0], min(bounds[1], size - step))
        if bounds is None or not multiple_of(sub(at.offset, bounds[0], 64), step):
            return None
        low, high = bounds
        if not 0 <= (high - low) // step < MAX_ELEMENTS:
            return None
        value: Value = None
        for start in range(low, high + 1, step):
            element = self._whole(node, position, Location(at.base, start, at.width))
            value = element if value is None else ite(eq(at.offset, start, 64), element, value, at.width)
        return value

    def _whole(self, node: int, position: int, at: Location) -> Value:
        """As `read`. Joins that are not known yet are worked out on a stack of our own, not by recursion."""
        pending: list[tuple[int, Location]] = []
        while True:
            try:
                if not pending:
                    return self._walk(node, position, at)
                join, location = pending[-1]
                key = (join, location.base, location.offset, location.width)
                if key not in self._entry:
                    self._entry[key] = self._merge(join, location)
                pending.pop()
            except _Missing as missing:
                pending.append((missing.node, missing.at))
            except Split:
                if pending:
                    join, location = pending.pop()
                    key = (join, location.base, location.offset, location.width)
                    self._entry[key] = self._by_bytes(join, 0, location)
                else:
                    return self._by_bytes(node, position, at)

    def _by_bytes(self, node: int, position: int, at: Location) -> Value:
        parts = [
            self._whole(node, position, Location(at.base, add(at.offset, number, 64), 8))
            for number in range(at.bytes)
        ]
        return join_bytes(parts) if any(p.__class__ is Expr for p in parts) else _number(parts)

    def _walk(self, node: int, position: int, at: Location) -> Value:
        """Back through events and single predecessors to a value, or to a join that is known."""
        found: Hits = []
        ghost = at.offset.__class__ is int and at.offset == GHOST
        while True:
            if at.base in self.written[node] or self.anything[node]:
                events = self.events[node]
                for number in range(min(position, len(events)) - 1, -1, -1):
                    event = events[number]
                    hits = event.ghost_hits if ghost else event.hits
                    for condition, value in hits(self, node, number, at):
                        if condition is False:
                            continue
                        found.append((condition, value))
                        if condition is True:
                            return _choice(found[:-1], value, at.width)
            top = self.graph.tree.parent[node]
            if top < 0:
                return _choice(found, self.initial(at), at.width)
            join = self.joins[node]
            if join is None:
                node = self.graph.predecessors(node)[0]
            elif not self._region_writes(node, at.base):
                node = top
            else:
                known = self._entry.get((node, at.base, at.offset, at.width))
                if known is None:
                    raise _Missing(node, at)
                return _choice(found, known, at.width)
            position = len(self.events[node])

    def _merge(self, node: int, at: Location) -> Value:
        """The first restriction operator (Definition 6): the definitions that reach a join, under its
        gates."""
        join = self.joins[node]
        assert join is not None
        result: Value = None
        for source, condition in reversed(join):
            value = self._walk(source, len(self.events[source]), at)
            result = value if result is None else ite(condition, value, result, at.width)
        return result

    def _region(self, node: int) -> set[int]:
        region = self._regions.get(node)
        if region is None:
            region = self._regions[node] = self.graph.region(node)
        return region

    def _region_writes(self, node: int, base: Expr) -> bool:
        return any(base in self.written[n] or self.anything[n] for n in self._region(node))

    def version(self, node: int) -> tuple[int, int]:
        """The same for two places only if memory is the same there: the last event, or the last join of
        any."""
        while not self.events[node]:
            top = self.graph.tree.parent[node]
            if top < 0:
                break
            if self.joins[node] is None:
                node = self.graph.predecessors(node)[0]
            elif any(self.events[n] for n in self._region(node)):
                break
            else:
                node = top
        return node, len(self.events[node])

    # -- what was there before --------------------------------------------------------------------------

    def initial(self, at: Location) -> Value:
        key = (at.base, at.offset, at.width)
        found = self._initial.get(key)
        if found is None:
            found = self._initial[key] = self._before(at)
        return found

    def _before(self, at: Location) -> Value:
        leaf = self.leaves.of(at.base)
        if at.offset.__class__ is int and at.offset == GHOST:
            visible = self.leaves.visible(at.base.a) and not isinstance(leaf, GlobalObject)
            return ite(self.leaves.freed(at.base), 1, 0, 8) if visible else 0
        if isinstance(leaf, LocalObject):
            if leaf.zeroed:
                return 0
            return self.leaves.uninitialised(at.width, leaf.name, leaf.loc)
        if at.offset.__class__ is Expr:
            return self.leaves.unknown(at.width, "an element at a symbolic index")
        if isinstance(leaf, GlobalObject):
            value = self.initial_global(leaf.name, at.offset, at.width)
            if value is not None:
                return value
        if self.leaves.visible(at.base.a):
            if isinstance(leaf, Memory) and leaf.depth >= MAX_DEPTH:
                return self.leaves.unknown(at.width, "memory behind many pointers", None, at.width == 64)
            return self.leaves.memory(at.base, at.offset, at.width)
        return self.leaves.unknown(at.width, "memory behind an unknown pointer", None, at.width == 64)

    def given_up(self, event: Event, at: Location, reason: str) -> Expr:
        key = (id(event), at.base, at.offset, at.width)
        found = self._given_up.get(key)
        if found is None:
            found = self._given_up[key] = self.leaves.unknown(at.width, reason)
        return found


class _Missing(Exception):
    """A join whose value is not known yet."""

    def __init__(self, node: int, at: Location) -> None:
        super().__init__()
        self.node = node
        self.at = at


def _choice(hits: Hits, otherwise: Value, width: int) -> Value:
    for condition, value in reversed(hits):
        otherwise = ite(condition, value, otherwise, width)
    return otherwise


def _number(parts: list[Value]) -> int:
    return int.from_bytes(bytes(parts), "little")


def either(conditions: Iterable[Value]) -> Value:
    result: Value = False
    for condition in conditions:
        result = bool_or(result, condition)
    return result

"""Memory of one function, read lazily.

Algorithm 2 merges every location at the iterated dominance frontiers of its writes. Here nodes keep
*events* (stores, calls, unknown writes) and a location is merged when somebody reads it: `read` walks back
through the events, jumps from a join to its immediate dominator if no node between writes the base, and
else merges the predecessors under their conditions. The caller's memory at a call can thus be read later,
when a summary is opened there.
"""

from __future__ import annotations

from collections.abc import Callable

from anabranch.check.events import GHOST, Event, Location
from anabranch.check.gating import GatingPath
from anabranch.check.graph import AcyclicGraph
from anabranch.check.leaves import GlobalObject, Leaves, LocalObject, Memory, Uninitialised
from anabranch.check.places import Place, Places, multiple_of, offset_range
from anabranch.check.walk import Walk, WalkOfUndefined
from anabranch.expr import (
    Expr,
    Value,
    eq,
    extract,
    ite,
    join_bytes,
    sub,
    trunc,
)
from anabranch.ir.debug import DebugLoc

MAX_DEPTH = 4
"""Dereferences from a parameter or a global up to which input memory has a name."""
MAX_ELEMENTS = 16
"""Elements of an array up to which a read at a symbolic index is a choice between all."""


MAX_BYTES = 64
"""Bytes of a part of an object, by which reads of input memory are kept: most reads look at two parts."""


class MemoryOf:
    """The memory of one function under symbolic execution."""

    def __init__(
        self,
        leaves: Leaves,
        places: Places,
        graph: AcyclicGraph,
        initial_global: Callable[[str, int, int], Value | None],
        size_of: Callable[[Expr], int | None],
        undefined: Callable[[Value], Value],
        name: str,
    ) -> None:
        self.leaves = leaves
        self.name = name
        """Of the function."""
        self.places = places
        self.graph = graph
        self.initial_global = initial_global
        self.size_of = size_of
        count = len(graph.nodes)
        self.events: list[list[Event]] = [[] for _ in range(count)]
        self.written: list[set[Expr]] = [set() for _ in range(count)]
        self.anything: list[bool] = [False] * count
        self.joins: list[GatingPath | None] = [None] * count
        """The gating path expressions of the nodes with several predecessors."""
        self.private: set[Expr] = set()
        """Local variables whose address nothing else knows."""
        self.accessed: set[Expr] = set()
        self.values = Walk(self)
        self._undefined = WalkOfUndefined(self, undefined)
        self._initial: dict[tuple[Expr, Value, int], Value] = {}
        self._unknown: dict[tuple[int, int, Expr, Value, int], Expr] = {}
        self._next: dict[Expr, dict[int, int]] = {}
        """For each base and node what `above` found."""
        self.input_read: dict[Expr, dict[int, list[tuple[int, Expr]]]] = {}
        """Input memory that the function itself reads, by base and part of the object."""
        self.by_index: set[Expr] = set()
        """Elements of arrays that were never written, and may have been read at a symbolic index."""
        self.complete = False
        """Has the function been executed? From then on reads of callers and of conditions leave no trace."""

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
        return self.values.read(node, position, Location(base, offset, width))

    def undefined(self, node: int, position: int, places: tuple[Place, ...], width: int) -> Value:
        """The condition under which the value there was never written: `undefined` of what is read, but that
        no effect of a call is worked out for it."""
        result: Value = None
        for place in reversed(places):
            if place.base is None or place.offset is None:
                value: Value = False
            elif place.offset.__class__ is Expr:
                value = self._undefined.undefined(self.read(node, position, place.base, place.offset, width))
            else:
                self.accessed.add(place.base)
                at = Location(place.base, place.offset, (width + 7) // 8 * 8)
                value = self._undefined.read(node, position, at)
            result = value if result is None else ite(place.condition, value, result, 1)
        return result

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
            element = self.values.read(node, position, Location(at.base, start, at.width))
            self.by_index.update(x.var for x in self.leaves.support(element) if isinstance(x, Uninitialised))
            value = element if value is None else ite(eq(at.offset, start, 64), element, value, at.width)
        return value

    # -- the way back -----------------------------------------------------------------------------------

    def merges(self, node: int, base: Expr) -> bool:
        """Is it a join of ways that may write a base?"""
        join = self.joins[node]
        return join is not None and self._region_writes(join, base)

    def above(self, node: int, base: Expr) -> int:
        """The next node up the dominator tree that writes a base or merges it, or the first. Nodes above one
        that is executed do not change any more; what is passed is remembered for all of them."""
        known, parent = self._next.setdefault(base, {}), self.graph.tree.parent
        passed: list[int] = []
        while True:
            found = known.get(node)
            if found is not None:
                break
            passed.append(node)
            found = node = parent[node]
            if base in self.written[node] or self.anything[node] or parent[node] < 0:
                break
            if self.merges(node, base):
                break
        for node in passed:
            known[node] = found
        return found

    def _region_writes(self, join: GatingPath, base: Expr) -> bool:
        found = join.writes.get(base)
        if found is None:
            found = any(base in self.written[n] or self.anything[n] for n in join.region)
            join.writes[base] = found
        return found

    def version(self, node: int, bases: set[Expr] | None) -> tuple[int, int]:
        """The same for two places only if memory is the same there, that of some bases or all of it: the last
        event, or the last join of any."""
        while True:
            for number in range(len(self.events[node]), 0, -1):
                if self._may_write(self.events[node][number - 1], bases):
                    return node, number
            top = self.graph.tree.parent[node]
            if top < 0:
                return node, 0
            join = self.joins[node]
            if join is None:
                node = self.graph.predecessors(node)[0]
            elif any(self._may_write(event, bases) for n in join.region for event in self.events[n]):
                return node, 0
            else:
                node = top

    def _may_write(self, event: Event, bases: set[Expr] | None) -> bool:
        if bases is None or not bases.isdisjoint(event.bases()):
            return True
        return event.everything() and any(map(self.shared, bases))

    # -- what was there before --------------------------------------------------------------------------

    def initial(self, at: Location) -> Value:
        key = (at.base, at.offset, at.width)
        found = self._initial.get(key)
        if found is None:
            with self.leaves.within(self.name, "initial", *key):
                found = self._before(at)
            self._initial[key] = found
        return found

    def _before(self, at: Location) -> Value:
        leaf = self.leaves.of(at.base)
        if at.offset.__class__ is int and at.offset == GHOST:
            visible = self.leaves.visible(at.base.a) and not isinstance(leaf, GlobalObject)
            return ite(self.leaves.freed(at.base), 1, 0, 8) if visible else 0
        if isinstance(leaf, LocalObject):
            if (
                leaf.size is not None
                and at.offset.__class__ is int
                and not 0 <= at.offset <= leaf.size - at.bytes
            ):
                return self.leaves.unknown(at.width, "memory outside of an object")  # its bounds are reported
            if leaf.zeroed:
                return 0
            part = leaf.size != at.bytes
            name = f"memory from {leaf.name}" if leaf.heap else leaf.name
            content = self.leaves.uninitialised(at.width, name, leaf.loc, part)
            if at.offset.__class__ is Expr:
                self.by_index.add(content)
            return content
        if at.offset.__class__ is Expr:
            return self.leaves.unknown(at.width, "an element at a symbolic index")
        if isinstance(leaf, GlobalObject):
            value = self.initial_global(leaf.name, at.offset, at.width)
            if value is not None:
                return value
        if self.leaves.visible(at.base.a):
            if isinstance(leaf, Memory) and leaf.depth >= MAX_DEPTH:
                return self.leaves.unknown(at.width, "memory behind many pointers", None, at.width == 64)
            return self._input(at)
        return self.leaves.unknown(at.width, "memory behind an unknown pointer", None, at.width == 64)

    def _input(self, at: Location) -> Value:
        """A read that overlaps what the function has read before agrees with it (unions): it is a part of
        that value, or it is put together from bytes."""
        read = self.input_read.get(at.base, {})
        first, last = (at.offset - MAX_BYTES) // MAX_BYTES, (at.offset + at.bytes - 1) // MAX_BYTES
        overlaps = False
        for start, whole in (part for number in range(first, last + 1) for part in read.get(number, ())):
            end = start + whole.w // 8
            if start <= at.offset and at.offset + at.bytes <= end:
                return extract(whole, (at.offset - start) * 8, at.width) if whole.w > at.width else whole
            overlaps = overlaps or (start < at.offset + at.bytes and at.offset < end)
        if overlaps:
            return join_bytes([self._input(Location(at.base, at.offset + i, 8)) for i in range(at.bytes)])
        found = self.leaves.memory(at.base, at.offset, at.width)
        if not self.complete:
            parts = self.input_read.setdefault(at.base, {})
            parts.setdefault(at.offset // MAX_BYTES, []).append((at.offset, found))
        return found

    def unknown(
        self,
        node: int,
        position: int,
        at: Location,
        reason: str,
        loc: DebugLoc | None = None,
        pointer: bool = False,
        input: bool = False,
    ) -> Expr:
        """What the event at a position makes of a location where that is not known."""
        key = (node, position, at.base, at.offset, at.width)
        found = self._unknown.get(key)
        if found is None:
            with self.leaves.within(self.name, "unknown", *key):
                found = self.leaves.unknown(at.width, reason, loc, pointer, input=input)
            self._unknown[key] = found
        return found

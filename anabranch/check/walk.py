"""Walks back through the memory of a function, from a place to what a location holds there.

A walk goes up the dominator tree. It stops at a write that is certain, at the start of the function, or at a
join that merges the location: what holds at a join is worked out once for each location (Definition 6). There
are two kinds: for the value, and for the question whether it was never written. The second does without the
effects of calls, which would have to be worked out in terms of all that they depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from anabranch.check.events import GHOST, Event, Hits, Location, Split
from anabranch.expr import Expr, Value, add, bool_or, ite, join_bytes

if TYPE_CHECKING:
    from anabranch.check.memory import MemoryOf


class Way(NamedTuple):
    """What a walk has come to."""

    hits: Hits
    """Values under conditions, the last write first."""
    join: int | None
    """Where it ended, if a value is merged there."""
    value: Value
    """What holds if none of the conditions does, if it did not end at a join."""


Key = tuple[int, Expr, Value, int]


class Walk:
    """For the value of locations."""

    kind = "join"

    def __init__(self, memory: MemoryOf) -> None:
        self.memory = memory
        self._known: dict[Key, Value] = {}
        """What holds at joins."""

    def read(self, node: int, position: int, at: Location) -> Value:
        """What holds before the event at `position` of a node."""
        try:
            way = self._back(node, position, at)
        except Split:
            return self._by_bytes(node, position, at)
        if way.join is not None:
            self._know(way.join, at)
        return self._value(way, at)

    def _know(self, join: int, at: Location) -> None:
        """Works out what holds at a join, at those before it first: on a stack of our own, not by
        recursion."""
        pending = [join]
        waiting: dict[int, dict[int, Way]] = {}
        while pending:
            node = pending[-1]
            key = (node, at.base, at.offset, at.width)
            if key in self._known:
                pending.pop()
                continue
            ways = waiting.get(node)
            if ways is None:
                try:
                    with self.memory.leaves.within(self.memory.name, self.kind, *key):
                        ways = waiting[node] = {source: self._from(source, at) for source in self._ends(node)}
                except Split:
                    with self.memory.leaves.within(self.memory.name, self.kind, "bytes", *key):
                        self._known[key] = self._by_bytes(node, 0, at)
                    continue
                before = [way.join for way in ways.values() if way.join is not None]
                missing = [n for n in before if (n, at.base, at.offset, at.width) not in self._known]
                if missing:
                    pending += missing
                    continue
            self._known[key] = self._merge(node, at, ways)

    def _from(self, source: int, at: Location) -> Way:
        return self._back(source, len(self.memory.events[source]), at)

    def _back(self, node: int, position: int, at: Location) -> Way:
        """Back through events and dominators."""
        memory = self.memory
        found: Hits = []
        hits_of = self._ghost_hits if at.offset.__class__ is int and at.offset == GHOST else self._hits
        while True:
            if at.base in memory.written[node] or memory.anything[node]:
                events = memory.events[node]
                for number in range(min(position, len(events)) - 1, -1, -1):
                    for condition, value in hits_of(events[number], node, number, at):
                        if condition is True:
                            return Way(found, None, value)
                        if condition is not False:
                            found.append((condition, value))
            if memory.graph.tree.parent[node] < 0:
                return Way(found, None, self._initial(at))
            if memory.merges(node, at.base):
                return Way(found, node, None)
            node = memory.above(node, at.base)
            position = len(memory.events[node])

    def _ends(self, node: int) -> Sequence[int]:
        """The predecessors from which a join is reached."""
        join = self.memory.joins[node]
        assert join is not None
        return join.ends if join.reached else self.memory.graph.predecessors(node)[:1]

    def _merge(self, node: int, at: Location, ways: dict[int, Way]) -> Value:
        """The first restriction operator (Definition 6): the definitions that reach a join, under its
        gates."""
        join = self.memory.joins[node]
        assert join is not None
        values = {source: self._value(way, at) for source, way in ways.items()}
        if not join.reached:
            return next(iter(values.values()))
        choose = self._choose(at)
        return join.choose(values.__getitem__, choose)

    def _value(self, way: Way, at: Location) -> Value:
        result = way.value if way.join is None else self._known[way.join, at.base, at.offset, at.width]
        choose = self._choose(at)
        for condition, value in reversed(way.hits):
            result = choose(condition, value, result)
        return result

    def _by_bytes(self, node: int, position: int, at: Location) -> Value:
        places = (Location(at.base, add(at.offset, number, 64), 8) for number in range(at.bytes))
        return self._joined([self.read(node, position, place) for place in places])

    # -- what is asked ----------------------------------------------------------------------------------

    def _hits(self, event: Event, node: int, position: int, at: Location) -> Hits:
        return event.hits(self.memory, node, position, at)

    def _ghost_hits(self, event: Event, node: int, position: int, at: Location) -> Hits:
        return event.ghost_hits(self.memory, node, position, at)

    def _initial(self, at: Location) -> Value:
        return self.memory.initial(at)

    def _choose(self, at: Location) -> Callable[[Value, Value, Value], Value]:
        return lambda condition, a, b: ite(condition, a, b, at.width)

    def _joined(self, parts: list[Value]) -> Value:
        if any(part.__class__ is Expr for part in parts):
            return join_bytes(parts)
        return int.from_bytes(bytes(parts), "little")


class WalkOfUndefined(Walk):
    """For the condition under which a location was never written, or holds something that was made of what
    was not. What calls write counts as written; a branch that chooses what is written is a use of its own."""

    kind = "undefined"

    def __init__(self, memory: MemoryOf, undefined: Callable[[Value], Value]) -> None:
        super().__init__(memory)
        self.undefined = undefined

    def _hits(self, event: Event, node: int, position: int, at: Location) -> Hits:
        return event.undefined_hits(self, node, position, at)

    def _initial(self, at: Location) -> Value:
        return self.undefined(self.memory.initial(at))

    def _choose(self, at: Location) -> Callable[[Value, Value, Value], Value]:
        return lambda condition, a, b: ite(condition, a, b, 1)

    def _joined(self, parts: list[Value]) -> Value:
        return either(parts)


def either(conditions: Iterable[Value]) -> Value:
    result: Value = False
    for condition in conditions:
        result = bool_or(result, condition)
    return result

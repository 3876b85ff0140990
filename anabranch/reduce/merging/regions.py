"""Regions that the program marks itself: `klee_open_merge()` ... `klee_close_merge()`.

As in KLEE: a path that comes to the end of a region waits there until no path is left inside that entered the
region with it; all that have come to the same place are then joined, whatever estimates say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from anabranch.explore.protocols import Search
from anabranch.explore.tree import ExecutionTree
from anabranch.machine import CannotJoin, State, join
from anabranch.machine.api import CLOSED_REGION, OPEN_REGIONS
from anabranch.reduce.merging.places import stack_of
from anabranch.solver import SliceSpace


class Regions:
    """A search order that holds states at the ends of their regions."""

    def __init__(self, order: Search[State], space: SliceSpace, tree: ExecutionTree) -> None:
        self._order = order
        self._space = space
        self._tree = tree
        self._inside: Counter[Hashable] = Counter()  # waiting states by region they are in
        self._held: dict[Hashable, list[State]] = {}
        self.merges = 0
        self.refused: Counter[str] = Counter()

    @property
    def description(self) -> str:
        return self._order.description

    def add(self, states: Sequence[State]) -> None:
        passing = []
        for state in states:
            notes = state.tables[1]
            for region in notes.get(OPEN_REGIONS, ()):
                self._inside[region] += 1
            closed = notes.get(CLOSED_REGION)
            if closed is None:
                passing.append(state)
            else:
                self._hold(closed, state)
        if passing:
            self._order.add(passing)

    def _hold(self, region: Hashable, state: State) -> None:
        held = self._held.setdefault(region, [])
        for index, other in enumerate(held):
            if stack_of(other) != stack_of(state):
                continue
            try:
                joined = join(other, state, self._space)
            except CannotJoin as refusal:
                self.refused[refusal.reason] += 1
                continue
            self._tree.join(other.node, state.node, state.place)
            self._count(other, -1)
            self._count(state, -1)
            self._count(joined, 1)
            held[index] = joined
            self.merges += 1
            return
        held.append(state)

    def _count(self, state: State, by: int) -> None:
        for region in state.tables[1].get(OPEN_REGIONS, ()):
            self._inside[region] += by

    def remove(self, state: State) -> None:
        self._count(state, -1)
        for held in self._held.values():
            if state in held:
                held.remove(state)
                return
        self._order.remove(state)

    def pick(self) -> State:
        if self._held:
            self._release()
        state = self._order.pick()
        self._count(state, -1)
        return state

    def _release(self) -> None:
        """Let go of states whose region nobody is in any more; if there is nothing else to do, of all."""
        done = [region for region in self._held if not self._inside[region]]
        if not done and not len(self._order):
            done = list(self._held)
        for region in done:
            states = self._held.pop(region)
            for state in states:
                counts, notes = state.tables
                state.tables = (counts, notes.delete(CLOSED_REGION))
            self._order.add(states)

    def __len__(self) -> int:
        return len(self._order) + sum(map(len, self._held.values()))

    def states(self) -> Iterator[State]:
        yield from self._order.states()
        for held in self._held.values():
            yield from held

"""Regions that the program marks itself: `klee_open_merge()` ... `klee_close_merge()`.

As in KLEE: a path that comes to the end of a region waits there until no path is left inside that entered the
region with it; all that have come to the same location are then merged, whatever estimates say.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar

from anabranch.explore.build import Parts
from anabranch.explore.protocols import Search
from anabranch.explore.technique import EXACT, Contract, Settled, Technique
from anabranch.machine import Events, IteEncoder, State

OPEN_REGIONS = "merge regions"
"""Note: the regions that a path is in, by the node of the tree where they were opened, innermost last."""
CLOSED_REGION = "closed merge region"
"""Note: the region at whose end a path waits."""


class Regions(Technique):
    """Holds states at the ends of their regions, and merges those that came to the same end."""

    name: ClassVar[str] = "regions"
    contract: ClassVar[Contract] = EXACT

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.merges = 0
        self._machine = parts.machine
        self._tree = parts.tree
        self._encoder = IteEncoder(parts.space, parts.machine.extras)
        self._orders: list[RegionOrder] = []

    def listen(self, events: Events) -> None:
        events.region.append(self._marked)

    def order(self, search: Search[State]) -> Search[State]:
        order = RegionOrder(search)
        self._orders.append(order)
        return order

    def _marked(self, opens: bool) -> None:
        """The running path opens a region, or comes to the end of one and waits."""
        path = self._machine.path
        regions = path.notes.get(OPEN_REGIONS, ())
        if opens:
            path.notes = path.notes.set(OPEN_REGIONS, (*regions, path.node.id))
        elif not regions:
            self._machine.warn("klee_close_merge without klee_open_merge")
        else:
            notes = path.notes.set(OPEN_REGIONS, regions[:-1])
            path.notes = notes.set(CLOSED_REGION, regions[-1])
            self._machine.decider.yield_after(sys._getframe(1))

    def settle(self) -> Iterator[Settled]:
        for order in self._orders:
            for held in order.complete():
                made = self._encoder.join(held)
                for one in made:
                    counts, notes = one.state.tables
                    one.state.tables = (counts, notes.delete(CLOSED_REGION))
                yield Settled(held, [one.state for one in made])
                for one in made:
                    for part in one.parts[1:]:
                        self.merges += 1
                        self._tree.join(one.state.node, part.node, part.place)

    def figures(self) -> dict[str, Any]:
        return {"merges": self.merges, "refused": dict(self._encoder.refused)}


class RegionOrder:
    """Around a search order, from which it holds the states at the ends of their regions."""

    def __init__(self, order: Search[State]) -> None:
        self._order = order
        self._inside: Counter[Hashable] = Counter()  # waiting states by the region they are in
        self._held: dict[Hashable, list[State]] = {}

    @property
    def description(self) -> str:
        return self._order.description

    def complete(self) -> list[list[State]]:
        """The states held at the end of each region that nobody is in any more; if there is nothing else to
        do, of all regions."""
        if not self._held:
            return []
        done = [region for region in self._held if not self._inside[region]]
        if not done and not len(self._order):
            done = list(self._held)
        return [list(self._held[region]) for region in done]

    def add(self, states: Sequence[State]) -> None:
        passing = []
        for state in states:
            self._count(state, 1)
            closed = state.tables[1].get(CLOSED_REGION)
            if closed is None:
                passing.append(state)
            else:
                self._held.setdefault(closed, []).append(state)
        if passing:
            self._order.add(passing)

    def _count(self, state: State, by: int) -> None:
        for region in state.tables[1].get(OPEN_REGIONS, ()):
            self._inside[region] += by

    def remove(self, state: State) -> None:
        self._count(state, -1)
        for region, held in self._held.items():
            if state in held:
                held.remove(state)
                if not held:
                    del self._held[region]
                return
        self._order.remove(state)

    def pick(self) -> State:
        state = self._order.pick()
        self._count(state, -1)
        return state

    def __len__(self) -> int:
        return len(self._order) + sum(map(len, self._held.values()))

    def states(self) -> Iterator[State]:
        yield from self._order.states()
        for held in self._held.values():
            yield from held

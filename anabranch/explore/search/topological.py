"""topological: the state that is furthest behind goes first, so that others wait for it at join points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Generic

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order

OrderKey = Callable[[S], Any]
"""Sorts states by location, smallest first: deeper call stacks before shallower ones, then blocks in reverse
postorder with the blocks of a loop before those after it."""


class Topological(Generic[S]):
    """Smallest key first, oldest first among equals."""

    description = "topological"

    def __init__(self, order_key: OrderKey[S]) -> None:
        self._key = order_key
        self._arrivals = 0
        # Entries [key, arrival, state]; a state that was removed leaves None behind, which costs nothing
        # until it comes to the top, and holds no memory of the state.
        self._heap: list[list[Any]] = []
        self._entry: dict[S, list[Any]] = {}

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            self._arrivals += 1
            entry = self._entry[state] = [self._key(state), self._arrivals, state]
            heappush(self._heap, entry)

    def remove(self, state: S) -> None:
        self._entry.pop(state)[2] = None
        if len(self._heap) > 2 * len(self._entry) + 64:
            self._heap = [entry for entry in self._heap if entry[2] is not None]
            heapify(self._heap)

    def pick(self) -> S:
        while True:
            state: S | None = heappop(self._heap)[2]
            if state is not None:
                del self._entry[state]
                return state

    def first(self) -> S | None:
        """The state that would be picked next."""
        while self._heap and self._heap[0][2] is None:
            heappop(self._heap)
        return self._heap[0][2] if self._heap else None

    def __contains__(self, state: object) -> bool:
        return state in self._entry

    def __len__(self) -> int:
        return len(self._entry)

    def states(self) -> Iterator[S]:
        return iter(self._entry)


@search_order("topological", help="the state that is furthest behind in the program first")
def topological(context: SearchContext[S]) -> Topological[S]:
    return Topological(context.order_key)

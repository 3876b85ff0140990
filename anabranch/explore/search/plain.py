"""Orders that depend on nothing but when a state came: dfs, bfs, random-state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from random import Random
from typing import Generic

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order


class _Arrivals(Generic[S]):
    """The waiting states in the order in which they came."""

    def __init__(self, waiting: dict[S, None]) -> None:
        self._waiting = waiting

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            self._waiting[state] = None

    def remove(self, state: S) -> None:
        del self._waiting[state]

    def __len__(self) -> int:
        return len(self._waiting)

    def states(self) -> Iterator[S]:
        return iter(self._waiting)


class Dfs(_Arrivals[S]):
    """Newest first."""

    description = "dfs"

    def __init__(self) -> None:
        # A dict keeps insertion order, pops its newest entry and deletes any other in constant time.
        super().__init__({})

    def pick(self) -> S:
        if not self._waiting:
            raise IndexError("no state waits")
        return self._waiting.popitem()[0]


class Bfs(_Arrivals[S]):
    """Oldest first."""

    description = "bfs"

    def __init__(self) -> None:
        # A dict would not do: taking its first entry again and again steps over all those taken before.
        self._oldest: OrderedDict[S, None] = OrderedDict()
        super().__init__(self._oldest)

    def pick(self) -> S:
        if not self._oldest:
            raise IndexError("no state waits")
        return self._oldest.popitem(last=False)[0]


class RandomState(Generic[S]):
    """Every waiting state with equal probability."""

    description = "random-state"

    def __init__(self, random: Random) -> None:
        self._random = random.random
        self._waiting: list[S] = []
        self._position: dict[S, int] = {}

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            self._position[state] = len(self._waiting)
            self._waiting.append(state)

    def remove(self, state: S) -> None:
        position = self._position.pop(state)
        last = self._waiting.pop()
        if last is not state:
            self._waiting[position] = last
            self._position[last] = position

    def pick(self) -> S:
        if not self._waiting:
            raise IndexError("no state waits")
        state = self._waiting[int(self._random() * len(self._waiting))]
        self.remove(state)
        return state

    def __len__(self) -> int:
        return len(self._waiting)

    def states(self) -> Iterator[S]:
        return iter(self._waiting)


@search_order("dfs", help="newest first")
def dfs(context: SearchContext[S]) -> Dfs[S]:
    return Dfs()


@search_order("bfs", help="oldest first")
def bfs(context: SearchContext[S]) -> Bfs[S]:
    return Bfs()


@search_order("random-state", help="all with equal probability")
def random_state(context: SearchContext[S]) -> RandomState[S]:
    return RandomState(context.random("random-state"))

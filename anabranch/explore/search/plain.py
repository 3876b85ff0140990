"""Orders that depend on nothing but when a state came: dfs, bfs, random-state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from random import Random
from typing import Generic

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order


class Dfs(Generic[S]):
    """Newest first."""

    description = "dfs"

    def __init__(self) -> None:
        # A dict keeps insertion order, pops its newest entry and deletes any other in constant time.
        self._waiting: dict[S, None] = {}

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            self._waiting[state] = None

    def remove(self, state: S) -> None:
        del self._waiting[state]

    def pick(self) -> S:
        if not self._waiting:
            raise IndexError("no state waits")
        return self._waiting.popitem()[0]

    def __len__(self) -> int:
        return len(self._waiting)

    def states(self) -> Iterator[S]:
        return iter(self._waiting)


class Bfs(Generic[S]):
    """Oldest first."""

    description = "bfs"

    def __init__(self) -> None:
        # Not a dict: taking its first entry again and again steps over all those taken before.
        self._waiting: OrderedDict[S, None] = OrderedDict()

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            self._waiting[state] = None

    def remove(self, state: S) -> None:
        del self._waiting[state]

    def pick(self) -> S:
        if not self._waiting:
            raise IndexError("no state waits")
        return self._waiting.popitem(last=False)[0]

    def __len__(self) -> int:
        return len(self._waiting)

    def states(self) -> Iterator[S]:
        return iter(self._waiting)


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

"""places: a location first, then one of the states that wait there.

Where paths multiply, most states wait at the same few locations (code that quotes an error message, say), and
an order that weighs every state for itself hardly ever picks another. Here all states of a location weigh
together: the nearer uncovered code is, the more, and the more turns from there were fruitless, the less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order
from anabranch.explore.search.weights import RECENT

REFRESH = 32  # picks after which all locations are weighed anew


class _Group(Generic[S]):
    """The states that wait at one location."""

    __slots__ = ("states", "weight")

    def __init__(self) -> None:
        self.states: list[S] = []
        self.weight = 0.0


@search_order("places", help="a location first, by nearness to uncovered code, then a state there")
class Places(Generic[S]):
    """Weighted random choice of a location, then an even one of its states.

    States whose path has just covered something new are a group of their own.
    """

    description = "places"

    def __init__(self, context: SearchContext[S]) -> None:
        self._distance = context.distance
        self._fruitless = context.fruitless
        self._random: Callable[[], float] = context.random(self.description).random
        self._groups: dict[tuple[int, bool], _Group[S]] = {}
        self._where: dict[S, tuple[tuple[int, bool], int]] = {}
        self._picks = 0
        self._last: tuple[int, bool] | None = None  # the group picked last; it is weighed anew first

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            key = (state.place, 0 < state.instructions_since_new < RECENT)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group()
            self._where[state] = (key, len(group.states))
            group.states.append(state)
            if len(group.states) == 1:
                group.weight = self._weight(key, state)

    def _weight(self, key: tuple[int, bool], state: S) -> float:
        steps = self._distance(state)
        near = 1.0 / (steps * steps) if steps > 1 else 1.0
        tried = 1 + self._fruitless.get(key[0], 0)
        return (near + key[1]) / (tried * tried)

    def remove(self, state: S) -> None:
        key, position = self._where.pop(state)
        group = self._groups[key]
        last = group.states.pop()
        if last is not state:
            group.states[position] = last
            self._where[last] = (key, position)
        if not group.states:
            del self._groups[key]

    def pick(self) -> S:
        if not self._groups:
            raise IndexError("no state waits")
        self._weigh()
        groups = self._groups
        point = self._random() * sum(group.weight for group in groups.values())
        for group in groups.values():
            point -= group.weight
            if point < 0:
                break
        states = group.states  # of the last group if rounding left a rest
        state = states[int(self._random() * len(states))]
        self._last = self._where[state][0]
        self.remove(state)
        return state

    def _weigh(self) -> None:
        """Bring weights up to date: that of the last location at once, the others now and then."""
        self._picks += 1
        if self._picks % REFRESH == 0:
            for key, group in self._groups.items():
                group.weight = self._weight(key, group.states[-1])
        elif self._last in self._groups:
            group = self._groups[self._last]
            group.weight = self._weight(self._last, group.states[-1])

    def __len__(self) -> int:
        return len(self._where)

    def states(self) -> Iterator[S]:
        return iter(self._where)

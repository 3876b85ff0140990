"""Orders for runs that aim at lines (`--target`): near ones first, and last what cannot get there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic

from anabranch.explore.protocols import S, Search
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.places import Places
from anabranch.explore.search.registry import search_order

NAME = "target"
WITH_TARGETS = (NAME, "random-path")
"""The orders of a run with targets, unless others are named."""


@search_order(NAME, help="a location first, by nearness to the lines of --target")
def target(context: SearchContext[Any]) -> Search[Any]:
    order = Places(replace(context, distance=context.target_distance))
    order.description = NAME
    return order


class OutOfReachLast(Generic[S]):
    """A search order around another: states that cannot reach a target come when no other waits.

    `exhausted` is told then: all paths to the targets have been followed.
    """

    def __init__(
        self, order: Search[S], may_reach: Callable[[S], bool], exhausted: Callable[[], None]
    ) -> None:
        self._order = order
        self._may_reach = may_reach
        self._exhausted = exhausted
        self._last: dict[S, None] = {}

    @property
    def description(self) -> str:
        return self._order.description

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            if self._may_reach(state):
                self._order.add((state,))
            else:
                self._last[state] = None

    def remove(self, state: S) -> None:
        if state in self._last:
            del self._last[state]
        else:
            self._order.remove(state)

    def pick(self) -> S:
        if len(self._order):
            return self._order.pick()
        if not self._last:
            raise IndexError("no state waits")
        self._exhausted()
        return self._last.popitem()[0]

    def __len__(self) -> int:
        return len(self._order) + len(self._last)

    def states(self) -> Iterator[S]:
        yield from self._order.states()
        yield from self._last

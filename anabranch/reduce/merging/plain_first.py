"""A run begins without merging and goes over to it if it turns out to be long.

Small programs are explored faster path by path than any estimate can be made. The paths that are over by then
are over; what each of the others has still to do is merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from anabranch.explore.protocols import Search
from anabranch.machine import State


class PlainFirst:
    """One search order until `is_long` says so, then another."""

    def __init__(
        self,
        first: Search[State],
        then: Search[State],
        is_long: Callable[[], bool],
        switch: Callable[[list[State]], None],
    ) -> None:
        self._now = first
        self._then = then
        self._is_long = is_long
        self._switch = switch
        self.plain = True

    @property
    def description(self) -> str:
        return self._then.description

    def add(self, states: Sequence[State]) -> None:
        self._now.add(states)

    def remove(self, state: State) -> None:
        self._now.remove(state)

    def pick(self) -> State:
        if self.plain and self._is_long():
            self.plain = False
            states = list(self._now.states())
            self._now = self._then
            self._switch(states)
            self._now.add(states)
        return self._now.pick()

    def __len__(self) -> int:
        return len(self._now)

    def states(self) -> Iterator[State]:
        return self._now.states()

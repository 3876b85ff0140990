"""Shadow mode: a state that is dropped is explored all the same: does it alone reach some code?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anabranch.machine import Machine, State
from anabranch.reduce.shadow import Shadow


class Dropped(NamedTuple):
    """What a dropped state would have covered."""

    location: str
    blocks: frozenset[int]
    """Counters of code that was not covered then."""


class ShadowVerifier:
    """Explores dropped states, and compares with what the run has covered at its end."""

    def __init__(self, machine: Machine, over: Callable[[], bool], matters: Callable[[int], bool]) -> None:
        """`matters`: is the code that a counter counts to be covered?"""
        self._machine = machine
        self._matters = matters
        self._shadow = Shadow(machine, over)
        self._dropped: list[Dropped] = []
        self.verified = 0
        self.undecided = 0

    def __call__(self, state: State, location: str) -> None:
        """A state is dropped."""
        seen = self._shadow.explore(state)
        if seen is None:
            self.undecided += 1
            return
        self.verified += 1
        counts = self._machine.counters.N
        new = frozenset(n for n in seen.blocks if not counts[n] and self._matters(n))
        if new:
            self._dropped.append(Dropped(location, new))

    def wrong(self) -> list[Dropped]:
        """States that were dropped though they alone reach some code."""
        counts = self._machine.counters.N
        left = [(one.location, frozenset(n for n in one.blocks if not counts[n])) for one in self._dropped]
        return [Dropped(location, blocks) for location, blocks in left if blocks]

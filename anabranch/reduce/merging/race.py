"""`auto`: the program is explored twice at a time, without merging and with it; the first to finish wins.

Whether merging pays can only be known afterwards: small programs are explored faster path by path than any
estimate can be made, and where conditions get hard by joining, plain exploration stays ahead for long. So the
plain one begins, and the merging one gets a share of the work that it cannot cost much more than that; a
program that is still not done after `LONG` is left to merging. Work is counted in instructions, forks and the
solver's resources, each at about the microseconds it takes, not in seconds: the same run takes the same
turns.

What is found (tests, errors, coverage) is found by either; what is counted (paths, ends, losses) is counted
for each by itself, and told of the winner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from anabranch.explore.kinds import PRUNED
from anabranch.explore.protocols import Search
from anabranch.explore.tally import Tally
from anabranch.explore.tree import ExecutionTree
from anabranch.machine import State

FIRST = 150_000  # what it takes to begin with merging: estimates, a decision procedure
LONG = 6_000_000  # work after which a program counts as too large to be explored path by path
SHARE = 0.12  # of the work of plain exploration that merging may take until then
PATIENCE = 10  # times the work of plain exploration that it may take from then on
TURNS = 64  # of the plain one, until the work is looked at again
MERGED_TURNS = 8  # of the merging one: they take longer


class Referee(Protocol):
    """Knows who is counted for."""

    tally: Tally


@dataclass(slots=True)
class Contestant:
    """One of the two explorations."""

    order: Search[State]
    set_out: Callable[[], None] = lambda: None
    rest: Callable[[], None] = lambda: None
    tally: Tally = field(default_factory=Tally)
    work: float = 0.0
    gave_up: bool = False
    """Was the last of its states taken out? Then it has not come to its end, but cannot go on either."""


class Race:
    """A search order made of two, each with its own states."""

    def __init__(
        self,
        plain: Contestant,
        merging: Contestant,
        work_so_far: Callable[[bool], float],
        tree: ExecutionTree,
        referee: Referee,
        patience: float = PATIENCE,
        regions: bool = False,
    ) -> None:
        """`regions`: does the program say itself where paths are to be joined?"""
        self.plain = plain
        self.merging = merging
        self.tree = tree
        self.referee = referee
        self.patience = patience
        self.regions = regions
        self.running = plain
        self.work_so_far = work_so_far  # of the whole run, as if all of it had been with merging or without
        self._merged: set[State] = set()  # states of the merging one; the plain one has many more
        merging.work = FIRST
        self._since = 0.0
        self._turns = 0
        self._begun = False
        referee.tally = plain.tally

    @property
    def description(self) -> str:
        return self.merging.order.description

    def add(self, states: Sequence[State]) -> None:
        if not self._begun:
            self._begun = True
            self._add([self._twin(state) for state in states], self.merging)
        self._add(states, self.running)

    def _add(self, states: Sequence[State], side: Contestant) -> None:
        side.order.add(states)
        side.gave_up = not len(side.order)
        if side is self.merging:
            self._merged.update(states)

    def _twin(self, state: State) -> State:
        twin = State()
        for name in State.__slots__:
            setattr(twin, name, getattr(state, name))
        twin.node = self.tree.fork(state.node, state.place, "merging")
        return twin

    def remove(self, state: State) -> None:
        """It ends, or is part of another one now; whichever, it counts for the side it was on."""
        side = self.merging if state in self._merged or self._made_in_region(state) else self.plain
        self._merged.discard(state)
        side.order.remove(state)
        side.gave_up = not len(side.order)  # unless it was merged: then the merged state is added next
        self.referee.tally = side.tally

    def _made_in_region(self, state: State) -> bool:
        """Was it made of two that were held at the end of a region, while merging?"""
        return self.regions and state in list(self.merging.order.states())

    def pick(self) -> State:
        self._turns += 1
        limit = TURNS if self.running is self.plain else MERGED_TURNS
        if self._turns >= limit or not len(self.running.order):
            self._look()
        running = self.running
        self.referee.tally = running.tally
        state = running.order.pick()
        if running is self.merging:
            self._merged.discard(state)
        return state

    def _look(self) -> None:
        """Whose turn is it?"""
        self._turns = 0
        running = self.running
        running.work += self.work_so_far(running is self.merging) - self._since
        merging_is_due = self.merging.work < self._allowed()
        other = self.merging if running is self.plain else self.plain
        # A side whose states were all given up for the sake of memory has no turn any more.
        if not len(running.order) or (len(other.order) and merging_is_due is (running is self.plain)):
            running.rest()
            other.set_out()
            self.running = other
        self._since = self.work_so_far(self.running is self.merging)

    def _allowed(self) -> float:
        """The work that merging may have done by now."""
        return self.plain.work * (SHARE if self.plain.work < LONG else self.patience)

    def __len__(self) -> int:
        """Nobody waits any more as soon as one of the two has come to its end."""
        if not len(self.running.order) and not self.running.gave_up:
            return 0
        return len(self.plain.order) + len(self.merging.order)

    def states(self) -> Iterator[State]:
        yield from self.plain.order.states()
        yield from self.merging.order.states()

    def finish(self) -> None:
        """The one that came to its end is counted, whatever it lost on the way, and what the other one has
        left is dropped. If both were stopped, that one is told of that stands for more paths."""
        sides = [self.plain, self.merging]
        ended = [side for side in sides if not len(side.order) and not side.gave_up]
        if not ended:  # everything that waited was given up, and is a loss of its side
            ended = [side for side in sides if not side.tally.losses] or sides
        winner = max(ended, key=lambda side: side.tally.multiplicity)
        self.referee.tally = winner.tally
        for side in sides:
            for state in list(side.order.states()):
                side.order.remove(state)
                self.tree.end(state.node, state.place, PRUNED)

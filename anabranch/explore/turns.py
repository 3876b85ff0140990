"""The machine as the loop sees it: a picked state has a turn, which gives its successors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from anabranch.explore.budget import Budget
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.worklist import Worklist
from anabranch.machine import Machine, State

NO_BATCH = 1 << 60
TURN_INSTRUCTIONS = 1000  # what a turn counts for at least, also if it loops without a fork
TURN_SECONDS = 0.01  # of a fruitless turn count like another one, where time is limited


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """How long a turn is."""

    forks: int
    """After which the state waits again."""
    instructions: int
    """Likewise, if others wait."""
    max_instructions: int | None
    """Of the whole run."""
    covers: bool
    """Is there to be a test for whatever is covered?"""


class Turns:
    """Gives states their turns, and keeps count of those that covered nothing new."""

    def __init__(
        self,
        machine: Machine,
        worklist: Worklist,
        new_coverage: NewCoverage,
        fruitless: dict[int, int],
        settings: TurnSettings,
        budget: Budget,
    ) -> None:
        self._machine = machine
        self._worklist = worklist
        self._new_coverage = new_coverage
        self._fruitless = fruitless
        self._settings = settings
        self._forking_seconds = budget.forking_seconds
        machine.trap.seconds = budget.turn_seconds
        self.taken = 0
        """Turns so far."""
        self.waiting_max = 0

    def advance(self, state: State, forks: int | None) -> Sequence[State]:
        """Run a state to where control comes back; it comes last among its successors."""
        self.taken += 1
        machine, coverage, settings = self._machine, self._new_coverage, self._settings
        block, before, began = state.place, coverage.version, 0.0
        waiting = self._worklist.size
        machine.trap.begin_turn(settings.instructions, settings.max_instructions, alone=not waiting)
        if self._forking_seconds is not None:
            began = monotonic()
            machine.decider.turn_ends = began + self._forking_seconds
        own, siblings = machine.run(state, settings.forks if forks is None else forks)
        if own is not None:
            if coverage.check():
                own.covered_new = settings.covers
                own.instructions_since_new = 1
                for sibling in siblings:
                    sibling.instructions_since_new = 1
            elif own.instructions_since_new:
                own.instructions_since_new += TURN_INSTRUCTIONS
            siblings.append(own)
        if coverage.version == before:
            cost = 1
            if self._forking_seconds is not None:  # time is short, and long turns take more of it
                cost += int((monotonic() - began) / TURN_SECONDS)
            self._fruitless[block] = self._fruitless.get(block, 0) + cost
        waiting += len(siblings)
        if waiting > self.waiting_max:
            self.waiting_max = waiting
        return siblings

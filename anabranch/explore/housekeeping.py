"""What is done now and then, between states and within long turns: limits, memory, progress, statistics."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from time import monotonic

from anabranch.explore.budget import Budget
from anabranch.explore.figures import Figures
from anabranch.explore.limits import least_promising
from anabranch.explore.worklist import Worklist
from anabranch.machine import Machine, State
from anabranch.report.events import Listener

STATS_SECONDS = 1.0
PROGRESS_SECONDS = 0.2
HOUSEKEEPING_SHARE = 50  # times as long as a report took, it is not repeated


class Housekeeping:
    """Decides whether a run goes on, and makes room when memory runs short."""

    def __init__(
        self,
        budget: Budget,
        figures: Figures,
        machine: Machine,
        listener: Listener,
        drop_caches: Callable[[], None],
    ) -> None:
        self._budget = budget
        self._figures = figures
        self._trap = machine.trap
        self._listener = listener
        self._drop_caches = drop_caches
        limits = budget.settings
        self._each_turn = limits.tests is not None or limits.instructions is not None
        self._states_to_end = 0  # for the sake of memory
        self._ended_states = False  # since caches were last dropped
        self._next_progress = self._next_stats = 0.0
        self.due = False
        """Has the ticker asked for housekeeping between two states?"""
        self.stopped: str | None = None
        """Why the run ended before everything was explored."""
        machine.events.tick.append(self.run)

    def excess(self, worklist: Worklist) -> Sequence[State] | None:
        """Between two states: waiting states that there is no memory for, None if the run is to end."""
        if self.due or self._each_turn:
            self.run()
        if self.stopped is not None:
            return None
        if not self._states_to_end and not self._ended_states:
            return ()
        return self._make_room(worklist)

    def run(self) -> None:
        """Check the limits, and report progress and statistics if it is time for them."""
        self.due = False
        if self.stopped is None:
            self.stopped = self._budget.check(self._figures)
        self._states_to_end = self._states_to_end or self._budget.states_to_end(self._figures.waiting)
        now = monotonic()
        if now >= self._next_progress:
            self._listener.on_progress(self._figures.progress())
            self._next_progress = next_time(now, PROGRESS_SECONDS)
        self._trap.stop_now = self.stopped is not None or self._states_to_end > 0
        if now >= self._next_stats:
            self._listener.on_stats(self._figures.stats_row())
            self._next_stats = next_time(now, STATS_SECONDS)

    def _make_room(self, worklist: Worklist) -> Sequence[State]:
        """Memory runs short: drop what can be made again; if that is not enough, the least promising waiting
        states have to end, but for the last one, which may fit."""
        if self._ended_states:
            self._ended_states = False
            self._drop_caches()
        if not self._states_to_end:
            return ()
        wanted, self._states_to_end = self._states_to_end, 0
        self._trap.stop_now = False
        self._drop_caches()
        if not self._budget.short_of_memory():
            return ()
        self._ended_states = True
        return least_promising(worklist.states(), min(wanted, len(worklist) - 1))

    def interrupt(self, number: int, frame: object) -> None:
        """Ctrl-C or SIGTERM: stop at the next block; a second one breaks off at once."""
        if self.stopped in ("interrupted", "terminated"):
            raise KeyboardInterrupt
        self.stop("interrupted" if number == signal.SIGINT else "terminated")

    def stop(self, why: str) -> None:
        """End the run at the next block."""
        self.stopped = why
        self._trap.stop_now = True
        self._trap.arm()


def next_time(began: float, interval: float) -> float:
    """When to report again, so that it takes little of the time also where a report takes long."""
    now = monotonic()
    return now + max(interval, HOUSEKEEPING_SHARE * (now - began))

"""A run's time and memory, and how they are divided: every module that uses a part of them asks here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic

from anabranch.explore.limits import Limits, Totals
from anabranch.explore.settings import LimitSettings
from anabranch.solver import QueryLimits

TURNS_IN_TIME = 600  # turns that the time limit of a run has room for at least
FORKING_SHARE = 10  # of the time of a turn, after which it ends at a fork
TESTS_AT_END = 0.03  # the part of the time limit that is kept for tests of states that still wait
CLOSING = 0.005  # the part that is kept for reports and files in any case
REPORTING = 0.35  # of the time that it took to read the program: the reports go through all of it again
GIVEN_UP = 15e-6  # seconds to give up a waiting state
PATIENCE = 0.6  # the part of limited time after which a path goes on without what a query did not decide
HARD_TURNS = 0.1  # the part of limited time for states whose query was put back, while others wait
TURNS_BETWEEN = 5000  # turns of others before such a state has its second try, if time is not limited
DISTANCES = 0.1  # the part of limited time for measuring distances to uncovered code
GRAPH = 0.5  # of the time that it took to read the program: a graph of it for those distances
ROWS_KEPT = 400_000  # rows of the execution tree in memory before they are written
ROWS_KEPT_TIMED = 20_000  # if time is limited: writing takes long, and few rows may be left when it is up
READING = "reading"
MEASURING = "distances"
"""Jobs: reading the program's text, and measuring how far states are from uncovered code."""


class Share:
    """One job's part of the time that passes, and what it has used."""

    __slots__ = ("_began", "_part", "used")
    now = staticmethod(monotonic)

    def __init__(self, part: float) -> None:
        self._part = part
        self._began = self.now()
        self.used = 0.0

    def charge(self, seconds: float) -> None:
        self.used += seconds

    def left(self) -> bool:
        """May the job go on?"""
        return self.used <= self._part * (self.now() - self._began)


class HardTurns:
    """When states whose query was put back have a turn although others wait: they have a share of limited
    time, else a turn after so many turns of others that they take about as much, the same in every run."""

    def __init__(self, share: Share, timed: bool) -> None:
        self._share = share
        self._timed = timed
        self._turns = 0  # of others, since the last one

    def due(self, attempt: int) -> bool:
        """Asked before each turn while such states wait; the first of them has been put back so often."""
        if self._timed:
            return self._share.left()
        self._turns += 1
        return self._turns > TURNS_BETWEEN << 3 * (attempt - 1)

    def taken(self, seconds: float) -> None:
        """Such a state had a turn."""
        self._turns = 0
        self._share.charge(seconds)


class Budget(Limits):
    """The limits of a run, divided among its jobs.

    Limited time is wall time from the start of the command to its end. Exploration stops earlier, by what the
    end of the run is expected to take.
    """

    def __init__(
        self,
        settings: LimitSettings,
        clock: Callable[[], float] = monotonic,
        started: float | None = None,
    ) -> None:
        super().__init__(settings, clock, started=started)
        self._shares: dict[str, Share] = {READING: Share(1.0)}
        self._waiting = 0
        self._queries = QueryLimits(settings.solver_time, self._exploring_until, clock)
        self._queries.patient_until = self._start + PATIENCE * (
            inf if settings.time is None else settings.time
        )
        self._measuring = self.share(MEASURING, DISTANCES)
        self.hard_turns = HardTurns(self.share("hard queries", HARD_TURNS), settings.time is not None)

    # ---- the time of the whole run -------------------------------------------------------------------

    @property
    def deadline(self) -> float:
        """The time on the clock at which the command is to end."""
        return inf if self.settings.time is None else self._start + self.settings.time

    @property
    def _closing(self) -> float:
        """Seconds that are expected to pass between the last test and the end of the command."""
        reports = REPORTING * self._shares[READING].used
        return CLOSING * (self.settings.time or 0.0) + reports + GIVEN_UP * self._waiting

    @property
    def tests_until(self) -> float:
        """The time on the clock after which no test is written that could be left out."""
        return self.deadline - self._closing

    @property
    def _exploring_until(self) -> float:
        return self.tests_until - TESTS_AT_END * (self.settings.time or 0.0)

    @property
    def time_is_up(self) -> bool:
        """Is it time to finish?"""
        return self._clock() >= self._exploring_until

    def check(self, totals: Totals) -> str | None:
        """Name of the limit that is reached, or None."""
        self._waiting = totals.waiting
        self._queries.end = self._exploring_until
        return super().check(totals)

    def begin_finishing(self) -> None:
        """The run is over: what is left to do gets the last part of the time."""
        self._queries.end = self.tests_until

    # ---- jobs ----------------------------------------------------------------------------------------

    @property
    def turn_seconds(self) -> float | None:
        """What a turn may take while others wait."""
        return None if self.settings.time is None else self.settings.time / TURNS_IN_TIME

    @property
    def forking_seconds(self) -> float | None:
        """What a turn may take until it ends at its next fork."""
        return None if self.settings.time is None else self.settings.time / TURNS_IN_TIME / FORKING_SHARE

    @property
    def rows_kept(self) -> int:
        """Rows of the execution tree that are held until they are written together."""
        return ROWS_KEPT if self.settings.time is None else ROWS_KEPT_TIMED

    def queries(self) -> QueryLimits:
        """What the solver may take."""
        return self._queries

    def proofs(self, seconds: float) -> QueryLimits:
        """What proofs after the run may take, each at most so many seconds."""
        if self.settings.time is None:
            return QueryLimits(seconds)
        return QueryLimits(seconds, max(self.deadline, self._clock() + TESTS_AT_END * self.settings.time))

    def may_measure(self) -> bool:
        """Is there time to measure distances to uncovered code? In a large program that takes long, and the
        first time longest."""
        time = self.settings.time
        if time is None:
            return True
        if not self._measuring.used and GRAPH * self._shares[READING].used > DISTANCES * time:
            return False
        return self._measuring.left()

    def share(self, job: str, part: float) -> Share:
        """A job's part of the time, where that is limited; all of it otherwise."""
        share = self._shares[job] = Share(1.0 if self.settings.time is None else part)
        return share

    @contextmanager
    def charged(self, job: str) -> Iterator[None]:
        """What is done inside is charged to a job."""
        share = self._shares.setdefault(job, Share(1.0))
        began = self._clock()
        try:
            yield
        finally:
            share.charge(self._clock() - began)

    def used(self) -> dict[str, float]:
        """Seconds by job."""
        return {job: share.used for job, share in self._shares.items() if share.used}

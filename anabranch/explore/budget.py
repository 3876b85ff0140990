"""A run's time and memory, and how they are divided: every module that uses a part of them asks here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic

from anabranch.explore.backends import QueryLimits
from anabranch.explore.limits import Limits
from anabranch.explore.settings import LimitSettings

TURNS_IN_TIME = 600  # turns that the time limit of a run has room for at least
FORKING_SHARE = 10  # of the time of a turn, after which it ends at a fork
FINISHING = 0.03  # the part of the time limit that pending tests may take after it is up
GRACE = 1.0  # seconds that a query may go on after the time of the run is up
HARD_QUERIES = 0.1  # the part of a limited time that hard queries may take together
HARD_QUERY = 0.01  # the part of it that a single one may take
ROWS_KEPT = 400_000  # rows of the execution tree in memory before they are written
ROWS_KEPT_TIMED = 20_000  # if time is limited: writing takes long, and few rows may be left when it is up


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


class Budget(Limits):
    """The limits of a run, divided among its jobs."""

    def __init__(self, settings: LimitSettings, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(settings, clock)
        self._shares: dict[str, Share] = {}
        self.deadline = inf
        """The time on the monotonic clock after which no more pending tests are written."""

    @property
    def time_is_up(self) -> bool:
        return self.settings.time is not None and self.seconds >= self.settings.time

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
        """What the solver may take: a small part of the time if that is limited, for there is other work."""
        time, single = self.settings.time, self.settings.solver_time
        if time is None:
            return QueryLimits(single)
        single = HARD_QUERY * time if single is None else min(single, HARD_QUERY * time)
        return QueryLimits(single, HARD_QUERIES, self._clock() + time + GRACE)

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

    def begin_finishing(self) -> None:
        """The run is over: what is left to do gets a last part of the time."""
        if self.settings.time is not None:
            self.deadline = self._clock() + FINISHING * self.settings.time

    def used(self) -> dict[str, float]:
        """Seconds by job."""
        return {job: share.used for job, share in self._shares.items() if share.used}

"""When a query is given up, or put back."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import monotonic

FIRST_PART = 1 / 32  # of the resources of a query, for one that can be put back: about 0.2 to 2 s
GROWTH = 8  # times as much when it is asked again
SLACK = 8  # times its part of the seconds, where resources alone are to decide so that runs repeat
USUAL_SECONDS = 30.0  # of which parts are taken if a query may take any time
URGENT_PART = 0.1  # of the time left, for a query that cannot be put back
URGENT_TOGETHER = 0.1  # of the whole time, for all of these
FIRST_TOGETHER = 0.1  # of the time that has passed, for hard queries that are asked for the first time
HARD = 0.02  # seconds: what a query takes beyond counts as time of hard queries
LEAST = 0.05  # seconds that every query may take


class QueryLimits:
    """What queries may take. A run has one such object: its budget sets the end, the machine says how often
    the query at hand was put back, and back ends read it when a query begins.

    A query that can be put back is asked with a small part of the resources first, and with more each time it
    is asked again. One that must be answered now has all of them; where time is limited, a part of what is
    left. In limited time both have only a little once queries like them have taken much together.
    """

    __slots__ = (
        "_began",
        "_first",
        "_together",
        "_took",
        "_urgent",
        "alone",
        "attempt",
        "clock",
        "end",
        "patient_until",
        "seconds",
        "spent",
    )

    def __init__(
        self, seconds: float | None = None, end: float = inf, clock: Callable[[], float] = monotonic
    ) -> None:
        self.clock = clock
        """What seconds and deadlines are measured by."""
        self.seconds = seconds
        """A single query, at most; None is no limit."""
        self.end = end
        """The time on the clock after which no query goes on."""
        self.attempt: int | None = None
        """How often the query at hand was put back; None if it must be answered now."""
        self.spent = 0.0
        """The part of the resources that the last query took, 0 if none was asked since `begin`."""
        self.patient_until = end
        """The time on the clock after which a query is given up that could be put back."""
        self.alone = inf
        """Seconds after which the query at hand is asked in a race (`race.py`)."""
        self._took = 0.0  # seconds, the last query
        self._began = clock()
        self._first = 0.0  # seconds of hard queries that were asked for the first time
        self._urgent = 0.0  # seconds of hard queries that could not be put back
        self._together = URGENT_TOGETHER * (end - clock())

    def begin(self, attempt: int) -> None:
        """A condition is to be decided whose query was put back so often."""
        self.attempt = attempt
        self.spent = 0.0

    @property
    def part(self) -> float:
        """Of all resources, for the query at hand."""
        return 1.0 if self.attempt is None else min(1.0, FIRST_PART * GROWTH**self.attempt)

    def deadline(self) -> float:
        """The time after which the query at hand is given up."""
        now, seconds = self.clock(), self.seconds
        if self.attempt is not None:
            slack = 1 if self.end < inf else SLACK
            allowed = min(self.part * slack * (seconds or USUAL_SECONDS), seconds or inf)
            if self._hurries(now):
                allowed = min(allowed, LEAST)
        elif self.end < inf and self._urgent > self._together:
            allowed = LEAST
        else:
            allowed = min(seconds or inf, max(URGENT_PART * (self.end - now), LEAST))
        return min(now + min(allowed, self.alone), self.end)

    def _hurries(self, now: float) -> bool:
        """Is the query asked for the first time, and have such queries taken much of limited time?"""
        if self.attempt or self.end == inf:
            return False
        return self._first > FIRST_TOGETHER * (now - self._began)

    def charge(self, seconds: float, part: float) -> None:
        """A query has ended that took so many seconds, and a part of the resources."""
        self.spent = part
        self._took = seconds
        if self.attempt is None:
            self._urgent += max(0.0, seconds - HARD)
        elif not self.attempt:
            self._first += max(0.0, seconds - HARD)

    @property
    def worth_waiting(self) -> bool:
        """The query at hand was not decided: can it have more time later?"""
        now = self.clock()
        if now >= self.end:
            return True  # the run is over, and its path is one that is left
        return self.part < 1 and now < self.patient_until and self._took < (self.seconds or inf)

    @property
    def was_hard(self) -> bool:
        """Did the last query take more than it has at first?"""
        return self.spent > FIRST_PART


class Limit:
    """Ends one query after a number of polls by the solver (repeatable), or at its deadline."""

    __slots__ = ("_clock", "_granted", "_limits", "_start", "deadline", "left", "polls")

    def __init__(self, polls: int, limits: QueryLimits) -> None:
        self._clock = limits.clock
        self._limits = limits
        self._start = 0.0
        self._granted = polls
        self.polls = polls
        """That a query may take at most."""
        self.left = polls
        self.deadline = inf

    def start(self) -> None:
        """A new query begins."""
        self._start = self._clock()
        self.left = self._granted = max(1, int(self.polls * self._limits.part))
        self.deadline = self._limits.deadline()

    def stop(self) -> int:
        """The query has ended; the polls that it took."""
        used = self._granted - self.left
        self._limits.charge(self._clock() - self._start, used / self.polls if self.polls else 1.0)
        return used

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0 or self._clock() > self.deadline

"""When a query is given up."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

HARD = 0.02  # seconds: what a query takes beyond is taken from the share of hard queries
LEAST = 0.05  # seconds that every query may take


class Limit:
    """Ends a query after a number of polls by the solver (repeatable) or, if asked for, some seconds.

    `end` is a time, by `time.monotonic`, after which no query goes on. With a `share`, hard queries together
    may take that part of the time since the first query; each one may take what is left of it. The time of a
    single one is theirs from the beginning: a short exploration is not to lose paths for want of a past.
    """

    __slots__ = (
        "_began",
        "_clock",
        "_spent",
        "_start",
        "deadline",
        "end",
        "left",
        "polls",
        "seconds",
        "share",
    )

    def __init__(
        self,
        polls: int,
        seconds: float | None,
        share: float | None = None,
        end: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._clock = clock
        self.polls = polls
        self.seconds = seconds
        self.share = share
        self.end = end
        self.left = polls
        self.deadline = end
        self._began = self._start = 0.0
        self._spent = 0.0

    def start(self) -> None:
        """A new query begins."""
        self.left = self.polls
        if self.seconds is None:
            return
        seconds = self.seconds
        self._start = self._clock()
        if self.share is not None:
            self._began = self._began or self._start
            left = seconds + self.share * (self._start - self._began) - self._spent
            seconds = min(seconds, max(left, LEAST))
        stop = self._start + seconds
        self.deadline = stop if self.end is None else min(stop, self.end)

    def stop(self) -> None:
        """The query has ended."""
        if self.share is not None:
            self._spent += max(0.0, self._clock() - self._start - HARD)

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0 or (self.deadline is not None and self._clock() > self.deadline)

"""What a backend is, and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from time import thread_time
from types import TracebackType
from typing import Protocol, TypeAlias

from anabranch.expr import Expr

Model: TypeAlias = dict[int, int]  # variable index -> value


class Verdict(Enum):
    """Answers of a backend other than a model."""

    UNSAT = "unsat"
    UNKNOWN = "unknown"


QUERY_EFFORT = 20
"""The effort of a query that needs no search, in polls of Bitwuzla."""

UNSAT = Verdict.UNSAT
UNKNOWN = Verdict.UNKNOWN
Answer: TypeAlias = Model | Verdict


class SolverUnknown(Exception):
    """The backend gave up. `known_side` is the side of the condition that the slice's model takes."""

    def __init__(self, known_side: bool) -> None:
        super().__init__("the solver reached its limit")
        self.known_side = known_side


class Backend(Protocol):
    """Decides conjunctions."""

    name: str

    @property
    def effort(self) -> int:
        """Resources used so far, the same in every run: so many a query, and what the search for it took."""
        ...

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """A model of the constraints that gives a value to each listed variable, UNSAT or UNKNOWN.

        Constraints in the order of the path: a common prefix with the last query may be kept.
        """
        ...


class Timer:
    """Counts and times one kind of work, in seconds of CPU as the run is timed; used as a context."""

    __slots__ = ("_start", "count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self._start = 0.0

    def __enter__(self) -> Timer:
        self._start = thread_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds += thread_time() - self._start


class SolverStats:
    """Per kind of answer: how many, and the seconds spent looking for it."""

    __slots__ = ("forced", "split", "timers")

    def __init__(self) -> None:
        self.timers: dict[str, Timer] = {}
        self.forced = 0
        """Conditions found to have one feasible side."""
        self.split = 0
        """Conditions found to have two."""

    def timer(self, name: str) -> Timer:
        """The timer of that name."""
        found = self.timers.get(name)
        if found is None:
            found = self.timers[name] = Timer()
        return found

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Plain data for reports."""
        return {name: {"count": t.count, "seconds": round(t.seconds, 6)} for name, t in self.timers.items()}

"""Bitwuzla: the default backend."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import bitwuzla
from bitwuzla import Option, Options, Result

from anabranch.expr import Expr, variable

from .backend import UNKNOWN, UNSAT, Answer, Model
from .bitwuzla_terms import TERMS, side_conditions, term

QUERY_EFFORT = 20  # of a query that needs no search, in polls
HARD = 0.02  # seconds: what a query takes beyond is taken from the share of hard queries
LEAST = 0.05  # seconds that every query may take


class Limit:
    """Ends a query after a number of polls by the solver (repeatable) or, if asked for, some seconds.

    `end` is a time, by `time.monotonic`, after which no query goes on. With a `share`, hard queries together
    may take that part of the time since the first query; each one may take what is left of it. The time of a
    single one is theirs from the beginning: a short exploration is not to lose paths for want of a past.
    """

    __slots__ = ("_began", "_spent", "_start", "deadline", "end", "left", "polls", "seconds", "share")

    def __init__(
        self, polls: int, seconds: float | None, share: float | None = None, end: float | None = None
    ) -> None:
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
        self._start = monotonic()
        if self.share is not None:
            self._began = self._began or self._start
            left = seconds + self.share * (self._start - self._began) - self._spent
            seconds = min(seconds, max(left, LEAST))
        stop = self._start + seconds
        self.deadline = stop if self.end is None else min(stop, self.end)

    def stop(self) -> None:
        """The query has ended."""
        if self.share is not None:
            self._spent += max(0.0, monotonic() - self._start - HARD)

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0 or (self.deadline is not None and monotonic() > self.deadline)


class BitwuzlaBackend:
    """Keeps the asserted prefix that two queries share; starts afresh now and then, which is quicker."""

    name = "bitwuzla"

    def __init__(
        self,
        polls: int = 500_000,
        seconds: float | None = None,
        rebuild: int = 100,
        share: float | None = None,
        end: float | None = None,
    ) -> None:
        self._options = Options()
        self._options.set(Option.PRODUCE_MODELS, True)
        self._limit = Limit(polls, seconds, share, end)
        self._rebuild = rebuild
        self._solver: Any = None
        self._asked = 0
        self._asserted: list[Expr] = []
        self.effort = 0

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        self._limit.start()
        solver = self._prepare(constraints)
        result = solver.check_sat()
        self._limit.stop()
        self.effort += QUERY_EFFORT + self._limit.polls - self._limit.left
        if result == Result.UNSAT:
            return UNSAT
        if result != Result.SAT:
            self._solver = None
            return UNKNOWN
        model: Model = {}
        for v in variables:
            x = variable(v)
            text = solver.get_value(term(x)).value(10)
            model[v] = int(text)
        return model

    def _prepare(self, constraints: Sequence[Expr]) -> Any:
        """A solver in which exactly the constraints are asserted."""
        asserted = self._asserted
        if self._solver is None or self._asked >= self._rebuild:
            self._solver = bitwuzla.Bitwuzla(TERMS, self._options)
            self._solver.configure_terminator(self._limit)
            self._asked = 0
            asserted.clear()
        self._asked += 1
        solver = self._solver
        common = 0
        for old, new in zip(asserted, constraints, strict=False):
            if old is not new:
                break
            common += 1
        if len(asserted) > common:
            solver.pop(len(asserted) - common)
            del asserted[common:]
        for c in constraints[common:]:
            solver.push(1)
            solver.assert_formula(term(c), *side_conditions(c))
            asserted.append(c)
        return solver

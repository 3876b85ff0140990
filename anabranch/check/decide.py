"""The decision procedure: one fresh solver a query, with terms of its own.

The queries of a checker do not grow along a path as those of an exploration: most are asked once, of a few
hundred nodes. A fresh Bitwuzla with little rewriting was twice as quick on them as one that is kept. Terms
are not kept either: their numbers decide how Bitwuzla orders things, and an answer, its model and the polls
that it takes must not depend on what was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable

import bitwuzla
from bitwuzla import Option, Options, Result

from anabranch.expr import Expr, expr_vars, variable
from anabranch.solver.backend import UNKNOWN, UNSAT, Answer, Model
from anabranch.solver.bitwuzla_terms import Terms


class _Polls:
    """Ends a query after a number of polls by the solver, which is the same on every machine."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


class Decider:
    def __init__(self) -> None:
        self._options = Options()
        self._options.set(Option.PRODUCE_MODELS, True)
        self._options.set(Option.REWRITE_LEVEL, 0)
        self.queries = 0
        self.spent = 0
        """Polls of all queries; each counts for one at least."""

    def solve(self, formulas: Iterable[Expr], polls: int) -> Answer:
        """A model of all variables of the formulas, UNSAT or UNKNOWN."""
        asserted = list(formulas)
        limit = _Polls(polls)
        terms = Terms()
        try:
            return self._solve(terms, asserted, limit, polls)
        finally:
            terms.release()

    def _solve(self, terms: Terms, asserted: list[Expr], limit: _Polls, polls: int) -> Answer:
        solver = bitwuzla.Bitwuzla(terms.manager, self._options)
        solver.configure_terminator(limit)
        for formula in asserted:
            solver.assert_formula(terms.term(formula), *terms.side_conditions(formula))
        result = solver.check_sat()
        self.queries += 1
        self.spent += 1 + polls - limit.left
        if result == Result.UNSAT:
            return UNSAT
        if result != Result.SAT:
            return UNKNOWN
        indices = {index for formula in asserted for index in expr_vars(formula)}
        model: Model = {}
        for index in sorted(indices):
            model[index] = int(solver.get_value(terms.term(variable(index))).value(10))
        return model

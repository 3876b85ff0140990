"""The decision procedure: one fresh solver a query, with terms of its own.

The queries of a checker do not grow along a path as those of an exploration: most are asked once, of a few
hundred nodes. A fresh Bitwuzla with little rewriting was twice as quick on them as one that is kept. Terms
are not kept either: their numbers decide how Bitwuzla orders things, and an answer, its model and the polls
that it takes must not depend on what was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import thread_time

import bitwuzla
from bitwuzla import Option, Options, Result

from anabranch.expr import Expr, expr_vars, variable
from anabranch.expr.node import digest
from anabranch.solver.backend import UNKNOWN, UNSAT, Answer, Model
from anabranch.solver.bitwuzla_backend import set_options
from anabranch.solver.bitwuzla_terms import Terms
from anabranch.solver.config import PRESETS, SolverConfig
from anabranch.solver.configured import bitwuzla_options
from anabranch.solver.corpus import CorpusWriter
from anabranch.solver.decorators import status


class _Polls:
    """Ends a query after a number of polls by the solver, which is the same on every machine."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


class Decider:
    def __init__(self, config: SolverConfig = PRESETS["check"], log: CorpusWriter | None = None) -> None:
        self._log = log
        self._options = Options()
        self._options.set(Option.PRODUCE_MODELS, True)
        set_options(self._options, bitwuzla_options(config))
        self._assume = config["bitwuzla.prefix"] == "assume"
        self.queries = 0
        self.spent = 0
        """Polls of all queries; each counts for one at least."""
        self.known: dict[str, list[int]] = {}
        """Answers of an earlier run, by digest of the query."""
        self.asked: dict[str, list[int]] = {}
        """Answers that were given: verdict, polls, and of a model the variables that are not zero, each as
        its number among the variables of the query and its value."""

    def begin(self, known: dict[str, list[int]]) -> None:
        """Another function is checked."""
        self.known, self.asked = known, {}

    def solve(self, formulas: Iterable[Expr], polls: int) -> Answer:
        """A model of all variables of the formulas, UNSAT or UNKNOWN."""
        asserted = list(formulas)
        indices = sorted({i for f in asserted for i in expr_vars(f)}, key=lambda i: variable(i).id)
        key = f"{digest((polls, *(f.id for f in asserted))):x}"
        before = self.spent
        self.queries += 1
        found = self.known.get(key)
        if found is not None:
            self.spent += found[1]
            self.asked[key] = found
            return _decoded(found, indices)
        started = thread_time()
        answer = self._fresh(asserted, indices, polls)
        if self._log is not None:
            self._log.add(asserted, status(answer), thread_time() - started)
        self.asked[key] = _encoded(answer, self.spent - before, indices)
        return answer

    def _fresh(self, asserted: list[Expr], indices: list[int], polls: int) -> Answer:
        limit = _Polls(polls)
        terms = Terms()
        try:
            return self._solve(terms, asserted, indices, limit, polls)
        finally:
            terms.release()

    def _solve(
        self, terms: Terms, asserted: list[Expr], indices: list[int], limit: _Polls, polls: int
    ) -> Answer:
        solver = bitwuzla.Bitwuzla(terms.manager, self._options)
        solver.configure_terminator(limit)
        formulas = [t for f in asserted for t in (terms.term(f), *terms.side_conditions(f))]
        if self._assume:
            result = solver.check_sat(*formulas)
        else:
            solver.assert_formula(*formulas)
            result = solver.check_sat()
        self.spent += 1 + polls - limit.left
        if result == Result.UNSAT:
            return UNSAT
        if result != Result.SAT:
            return UNKNOWN
        model: Model = {}
        for index in indices:
            model[index] = int(solver.get_value(terms.term(variable(index))).value(10))
        return model


_UNSAT, _UNKNOWN, _SAT = range(3)


def _encoded(answer: Answer, spent: int, indices: list[int]) -> list[int]:
    if not isinstance(answer, dict):
        return [_UNSAT if answer is UNSAT else _UNKNOWN, spent]
    values = [(place, answer[index]) for place, index in enumerate(indices) if answer[index]]
    return [_SAT, spent, *(number for pair in values for number in pair)]


def _decoded(found: list[int], indices: list[int]) -> Answer:
    if found[0] != _SAT:
        return UNSAT if found[0] == _UNSAT else UNKNOWN
    model: Model = dict.fromkeys(indices, 0)
    for place, value in zip(found[2::2], found[3::2], strict=True):
        model[indices[place]] = value
    return model

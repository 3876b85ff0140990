"""The decision procedure: one solver a condition, with terms of its own, to which formulas are added.

The queries about a condition grow as its operators are opened; those about different conditions have little
in common. Terms are not kept from one condition to the next: their numbers decide how Bitwuzla orders things,
and an answer, its model and the polls that it takes must not depend on what was asked about others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Any

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

Solve = Callable[[list[Expr], int], Answer]
"""Formulas and a limit in polls -> a model of all their variables, UNSAT or UNKNOWN."""


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
        self.log = log
        """Where queries are written that no earlier run has answered."""
        self.options = Options()
        self.options.set(Option.PRODUCE_MODELS, True)
        set_options(self.options, bitwuzla_options(config))
        self.assume = config["bitwuzla.prefix"] == "assume"
        """Are formulas assumed for each query, instead of asserted once?"""
        self.queries = 0
        self.spent = 0
        """Polls of all queries; each counts for one at least."""
        self.seconds = 0.0
        """CPU time of the queries that were not answered from an earlier run."""
        self.known: dict[str, list[int]] = {}
        """Answers of an earlier run, by digest of the query."""
        self.asked: dict[str, list[int]] = {}
        """Answers that were given: verdict, polls, and of a model the variables that are not zero, each as
        its number among the variables of the query and its value."""

    def begin(self, known: dict[str, list[int]]) -> None:
        """Another function is checked."""
        self.known, self.asked = known, {}

    @contextmanager
    def session(self, incremental: bool = True) -> Iterator[Solve]:
        """What answers the queries of one condition, each of which begins with the formulas of the one
        before. There must not be two at a time: terms are kept on the nodes of expressions."""
        terms = Terms()
        try:
            yield _Session(self, terms, incremental).solve
        finally:
            terms.release()

    def solve(self, formulas: list[Expr], polls: int) -> Answer:
        """One query by itself."""
        with self.session() as solve:
            return solve(formulas, polls)


class _Session:
    """One solver for all queries of a condition, to which formulas are added; or a fresh one for each."""

    def __init__(self, decider: Decider, terms: Terms, incremental: bool) -> None:
        self._decider = decider
        self._terms = terms
        self._incremental = incremental
        self._solver: bitwuzla.Bitwuzla | None = None
        self._asserted = 0
        """Formulas that the solver has."""
        self._before: tuple[tuple[int, int], ...] = ()
        """Queries so far: the number of their formulas and their limit."""
        self._solved = 0
        """Those of them that this solver was asked; the others were answered from an earlier run."""

    def solve(self, formulas: list[Expr], polls: int) -> Answer:
        """A model of all variables of the formulas, UNSAT or UNKNOWN."""
        decider, indices = self._decider, _variables(formulas)
        # What a solver has learned has a say in its next model, so the queries before are part of the key.
        key = f"{digest((polls, *(f.id for f in formulas), self._before)):x}"
        self._before = (*self._before, (len(formulas), polls))
        decider.queries += 1
        found = decider.known.get(key)
        if found is None:
            started = thread_time()
            found = self._found(formulas, indices)
            seconds = thread_time() - started
            decider.seconds += seconds
            if decider.log is not None:
                decider.log.add(formulas, status(_decoded(found, indices)), seconds)
        decider.asked[key] = found
        decider.spent += found[1]
        return _decoded(found, indices)

    def _found(self, formulas: list[Expr], indices: list[int]) -> list[int]:
        """Asks the queries that an earlier run has answered too, where the solver is to know them."""
        if not self._incremental:
            self._solver, self._asserted, self._solved = None, 0, len(self._before) - 1
        found: list[int] = []
        for number, polls in self._before[self._solved :]:
            found = self._ask(formulas[:number], polls, indices)
        self._solved = len(self._before)
        return found

    def _terms_of(self, formulas: list[Expr]) -> list[Any]:
        terms = self._terms
        return [t for f in formulas for t in (terms.term(f), *terms.side_conditions(f))]

    def _ask(self, formulas: list[Expr], polls: int, indices: list[int]) -> list[int]:
        terms, limit = self._terms, _Polls(polls)
        if self._solver is None:
            self._solver = bitwuzla.Bitwuzla(terms.manager, self._decider.options)
        self._solver.configure_terminator(limit)
        if self._decider.assume:
            result = self._solver.check_sat(*self._terms_of(formulas))
        else:
            for term in self._terms_of(formulas[self._asserted :]):
                self._solver.assert_formula(term)
            self._asserted = len(formulas)
            result = self._solver.check_sat()
        spent = 1 + polls - limit.left
        if result != Result.SAT:
            return [_UNSAT if result == Result.UNSAT else _UNKNOWN, spent]
        values = [int(self._solver.get_value(terms.term(variable(i))).value(10)) for i in indices]
        pairs = ((place, value) for place, value in enumerate(values) if value)
        return [_SAT, spent, *(number for pair in pairs for number in pair)]


def _variables(formulas: list[Expr]) -> list[int]:
    """In an order that is the same in every process."""
    return sorted({i for f in formulas for i in expr_vars(f)}, key=lambda i: variable(i).id)


_UNSAT, _UNKNOWN, _SAT = range(3)


def _decoded(found: list[int], indices: list[int]) -> Answer:
    if found[0] != _SAT:
        return UNSAT if found[0] == _UNSAT else UNKNOWN
    model: Model = dict.fromkeys(indices, 0)
    for place, value in zip(found[2::2], found[3::2], strict=True):
        model[indices[place]] = value
    return model

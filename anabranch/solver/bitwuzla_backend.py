"""Bitwuzla: the default backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bitwuzla
from bitwuzla import Option, Options, Result

from anabranch.expr import Expr, variable

from .backend import QUERY_EFFORT, UNKNOWN, UNSAT, Answer, Model
from .bitwuzla_terms import PROCESS, Terms
from .limit import Limit, QueryLimits


def set_options(options: Options, values: Mapping[str, bool | int | str]) -> None:
    """Sets options of Bitwuzla by the names that they have on its command line."""
    for name, value in values.items():
        options.set(Option[name.upper().replace("-", "_")], value)


class BitwuzlaBackend:
    """Keeps the asserted prefix that two queries share; starts afresh now and then, which is quicker."""

    name = "bitwuzla"

    def __init__(
        self,
        polls: int = 500_000,
        limits: QueryLimits | None = None,
        rebuild: int = 100,
        options: Mapping[str, bool | int | str] | None = None,
        prefix: str = "push",
        terms: Terms = PROCESS,
    ) -> None:
        self._options = Options()
        self._options.set(Option.PRODUCE_MODELS, True)
        set_options(self._options, options or {})
        self._prefix = prefix
        """Constraints are assertions that are taken back (push), assumptions of one query (assume), or
        assertions for good (assert): a query that does not begin with the last one gets a fresh solver."""
        self._terms = terms
        self._limit = Limit(polls, limits or QueryLimits())
        self._rebuild = rebuild
        self._solver: Any = None
        self._asked = 0
        self._asserted: list[Expr] = []
        self.effort = 0

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        self._limit.start()
        solver, assumptions = self._prepare(constraints)
        result = solver.check_sat(*assumptions)
        self.effort += QUERY_EFFORT + self._limit.stop()
        if result == Result.UNSAT:
            return UNSAT
        if result != Result.SAT:
            self._solver = None
            return UNKNOWN
        model: Model = {}
        for v in variables:
            x = variable(v)
            text = solver.get_value(self._terms.term(x)).value(10)
            model[v] = int(text)
        return model

    def _prepare(self, constraints: Sequence[Expr]) -> tuple[Any, list[Any]]:
        """A solver in which exactly the constraints are asserted, or are assumed by what is given with it."""
        asserted = self._asserted
        common = 0
        for old, new in zip(asserted, constraints, strict=False):
            if old is not new:
                break
            common += 1
        stale = self._prefix == "assert" and common < len(asserted)
        if self._solver is None or self._asked >= self._rebuild or stale:
            common = 0
            self._solver = self._fresh()
            self._asked = 0
            asserted.clear()
        self._asked += 1
        solver = self._solver
        if self._prefix == "assume":
            return solver, [t for c in constraints for t in self._formulas(c)]
        if len(asserted) > common:
            solver.pop(len(asserted) - common)
            del asserted[common:]
        for c in constraints[common:]:
            if self._prefix == "push":
                solver.push(1)
            solver.assert_formula(*self._formulas(c))
            asserted.append(c)
        return solver, []

    def _fresh(self) -> Any:
        solver = bitwuzla.Bitwuzla(self._terms.manager, self._options)
        solver.configure_terminator(self._limit)
        return solver

    def _formulas(self, constraint: Expr) -> tuple[Any, ...]:
        """The term of a constraint, and what must hold with it."""
        return (self._terms.term(constraint), *self._terms.side_conditions(constraint))

"""Z3: a second opinion, or by itself. It reads the SMT-LIB text, so that the printer is checked as well."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from anabranch.expr import Expr, to_smtlib, variable
from anabranch.expr.smtlib import symbol

from .backend import QUERY_EFFORT, UNKNOWN, UNSAT, Answer, Model
from .limit import Limit, QueryLimits


class Z3Backend:
    """A fresh solver a query, limited by Z3's resource count (repeatable) or, if asked for, some seconds."""

    name = "z3"

    def __init__(
        self,
        resources: int = 20_000_000,
        limits: QueryLimits | None = None,
    ) -> None:
        import z3  # takes 0.2 s: only when asked for

        self._z3: Any = z3
        self._resources = resources
        self._limits = limits or QueryLimits()
        self._limit = Limit(0, self._limits)
        self.effort = 0

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        solver = self._z3.SolverFor("QF_BVFP") if _has_fp(constraints) else self._z3.SolverFor("QF_BV")
        solver.set("rlimit", max(1, int(self._resources * self._limits.part)))
        self._limit.start()
        if self._limit.deadline < inf:
            solver.set("timeout", max(1, int(1000 * (self._limit.deadline - self._limits.clock()))))
        solver.from_string(to_smtlib(constraints))
        result = solver.check()
        self._limit.stop()
        self.effort += QUERY_EFFORT
        if result == self._z3.unsat:
            return UNSAT
        if result != self._z3.sat:
            return UNKNOWN
        found = solver.model()
        by_name = {d.name(): found[d] for d in found.decls()}
        model: Model = {}
        for v in variables:
            x = variable(v)
            value = by_name.get(symbol(x).strip("|"))
            if value is None:
                model[v] = 0
            elif x.w == 1:
                model[v] = int(self._z3.is_true(value))
            else:
                model[v] = value.as_long()
        return model


def _has_fp(constraints: Sequence[Expr]) -> bool:
    from anabranch.expr import postorder
    from anabranch.expr.fp import OPERATORS

    return any(n.op in OPERATORS for n in postorder(list(constraints)))

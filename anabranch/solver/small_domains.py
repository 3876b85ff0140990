"""What a solver gives up, answered by trying all values where these are few.

Two bytes have 65,536 values. Square roots, products and digits over them can take a solver minutes; evaluated
column by column, all values together take about a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, product
from typing import Any

from anabranch.expr import Expr, expr_vars, variable
from anabranch.expr.compiled import evaluate_columns
from anabranch.expr.node import VAR
from anabranch.expr.registry import OPERATORS
from anabranch.expr.variables import postorder

from .backend import UNKNOWN, UNSAT, Answer, Backend, Model
from .few import members
from .limit import QueryLimits
from .valuesets import ValueSet, full_set, intersect, truth_set

ROWS = 1 << 16
"""Values together that are tried at most."""
WORK = 100_000_000
"""Values of nodes that a query may compute, before its part of the resources is taken: about five seconds."""
CALLED = 40
"""A node whose meaning is no Python text (floating point) takes as long as so many others."""

Columns = dict[Expr, list[Any]]


class SmallDomains:
    """A back end around another: answers what that one gives up, if the variables have few values."""

    def __init__(self, inner: Backend, limits: QueryLimits) -> None:
        self.inner = inner
        self.name = inner.name
        self._limits = limits

    @property
    def effort(self) -> int:
        """See Backend."""
        return self.inner.effort

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        answer = self.inner.solve(constraints, variables)
        if answer is not UNKNOWN:
            return answer
        return try_all(constraints, variables, int(WORK * self._limits.part))


def try_all(constraints: Sequence[Expr], variables: Sequence[int], work: int) -> Answer:
    """A model, or UNSAT if no values satisfy the constraints; UNKNOWN if there is too much to compute."""
    sets: dict[int, ValueSet] = {v: full_set(variable(v).w) for v in variables}
    rest: list[Expr] = []
    for c in constraints:
        vs = expr_vars(c)
        truth = truth_set(c) if len(vs) == 1 else None
        if truth is None:
            rest.append(c)
        else:
            sets[vs[0]] = intersect(sets[vs[0]], truth)
    rows = 1
    values: list[list[int]] = []
    for v in variables:
        found = members(sets[v], ROWS)
        if found is None or rows * len(found) > ROWS:
            return UNKNOWN
        rows *= len(found)
        values.append(sorted(found))
    if not rows:
        return UNSAT
    if any(OPERATORS[n.op].binds for n in postorder(rest) if n.op != VAR):
        return UNKNOWN
    columns: Columns = {}
    for v, column in zip(variables, zip(*product(*values), strict=True), strict=True):
        columns[variable(v)] = list(map(bool, column)) if variable(v).w == 1 else list(column)
    return _filtered(sorted(rest, key=_weight), variables, columns, rows, work)


def _filtered(
    constraints: Sequence[Expr], variables: Sequence[int], columns: Columns, rows: int, work: int
) -> Answer:
    """The first row of values in which all constraints hold."""
    for c in constraints:
        new = [n for n in postorder([c]) if n not in columns]
        work -= rows * sum(map(_cost, new))
        if work < 0:
            return UNKNOWN
        for n in new:
            operands = [columns[x] if x.__class__ is Expr else [x] * rows for x in (n.a, n.b, n.c)]
            columns[n] = evaluate_columns(n, operands)
        kept = columns[c]
        columns = {n: list(compress(column, kept)) for n, column in columns.items()}
        rows = len(columns[c])
        if not rows:
            return UNSAT
    model: Model = {v: int(columns[variable(v)][0]) for v in variables}
    return model


def _weight(c: Expr) -> int:
    return sum(map(_cost, postorder([c])))


def _cost(n: Expr) -> int:
    return 0 if n.op == VAR else 1 if OPERATORS[n.op].python is not None else CALLED

"""Slices: the constraints of one connected component of variables, with what is known about them.

The path condition of a state is a map from variable to slice. Slices are shared by all states: a decision
made once for a slice and a condition is found again in `answers` by every path that comes to the same place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from anabranch.expr import Expr, expr_vars, not_, variable
from anabranch.expr.node import AND, NOT, OR

from .backend import Model
from .valuesets import ValueSet, full_set, intersect, truth_set


class Slice:
    """An interned set of constraints over `vars`, always satisfiable: `model` satisfies it."""

    __slots__ = ("answers", "bounds", "constraints", "model", "models", "order", "values", "vars")

    constraints: frozenset[Expr]
    order: tuple[Expr, ...]  # the constraints in the order they were added
    vars: tuple[int, ...]  # ascending
    model: Model
    models: tuple[Model, ...]  # some models, the slice's own first
    answers: dict[Expr, bool | Split]
    values: ValueSet | None  # of a single variable: exactly the values that satisfy the constraints
    bounds: dict[int, ValueSet]  # of each variable: a superset of its values

    def __repr__(self) -> str:
        return f"Slice({', '.join(map(repr, self.order))})"


class Split(NamedTuple):
    """Both sides of a condition are feasible."""

    yes: Slice
    no: Slice
    model_side: bool  # the side that the model of the slice takes


Decision: TypeAlias = bool | Split
MODELS_KEPT = 6


def make_slice(
    constraints: frozenset[Expr],
    order: tuple[Expr, ...],
    variables: tuple[int, ...],
    models: tuple[Model, ...],
    values: ValueSet | None,
    bounds: dict[int, ValueSet],
) -> Slice:
    """A new slice; the caller looks for it first."""
    s = Slice()
    s.constraints = constraints
    s.order = order
    s.vars = variables
    s.model = models[0]
    s.models = models
    s.answers = {}
    s.values = values
    s.bounds = bounds
    return s


def root_slice(index: int) -> Slice:
    """A variable without constraints."""
    everything = full_set(variable(index).w)
    return make_slice(frozenset(), (), (index,), ({index: 0},), everything, {index: everything})


def conjuncts(cond: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction, left to right."""
    if cond.op != AND and not (cond.op == NOT and cond.a.op == OR):
        return (cond,)
    out: dict[Expr, None] = {}
    seen: set[Expr] = set()
    stack = [cond]
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.op == AND:
            stack += (n.b, n.a)
        elif n.op == NOT and n.a.op == OR:
            stack += (not_(n.a.b), not_(n.a.a))
        else:
            out[n] = None
    return tuple(out)


def narrowed(s: Slice, conds: Iterable[Expr]) -> dict[int, ValueSet]:
    """The bounds of a slice after adding conditions."""
    bounds = s.bounds
    for cond in conds:
        vs = expr_vars(cond)
        if len(vs) != 1:
            continue
        truth = truth_set(cond)
        if truth is None:
            continue
        if bounds is s.bounds:
            bounds = dict(bounds)
        bounds[vs[0]] = intersect(bounds[vs[0]], truth)
    return bounds

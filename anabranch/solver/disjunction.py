"""The slices of a state that stands for two: constraints of which one set or the other holds.

Both sides have slices of the same variables. What one says and the other implies stays; of the rest, one
condition that holds on the first side and not on the second (the *guard*) is singled out, so that

    (guard and rest of the first) or (not guard and rest of the second)

is `ite(guard, rest, rest)`, and nothing at all where the sides are complements (Kuznetsov et al., PLDI 2012,
section 3.1). Slices that need no longer be together come apart again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from anabranch.expr import Expr, Value, expr_vars, ite, or_, variable
from anabranch.expr.boolean import bool_and, negation

from .backend import Model
from .comparisons import follows
from .slices import MODELS_KEPT, Slice, conjuncts, make_slice
from .valuesets import ValueSet, full_set, intersect, truth_set, union, without


class Disjunction(NamedTuple):
    """What two sides become."""

    guard: Expr
    """Holds on the first side, does not on the second."""
    condition: Value
    """What the guard does not say: a Boolean, True if nothing is left."""
    slices: tuple[Slice, ...]


class Side:
    """One side: its slices and what they imply."""

    def __init__(self, slices: Sequence[Slice]) -> None:
        self.slices = slices
        self.order = [c for s in slices for c in s.order]
        self.constraints = frozenset(self.order)
        self.bounds: dict[int, ValueSet] = {}
        for s in slices:
            self.bounds |= s.bounds
        self._slice_of = {v: s for s in slices for v in s.vars}

    def implies(self, cond: Expr) -> bool:
        """Found without a solver: True is certain, False is not."""
        return all(self._implies(part) for part in conjuncts(cond))

    def _implies(self, cond: Expr) -> bool:
        if cond in self.constraints:
            return True
        variables = expr_vars(cond)
        part = self._slice_of.get(variables[0])
        if part is None:
            return False
        truth = truth_set(cond) if len(variables) == 1 else None
        if truth is not None:
            return not without(part.bounds[variables[0]], truth)
        return follows(part, cond) is True

    def models(self) -> list[Model]:
        found: list[Model] = []
        for i in range(min(MODELS_KEPT, max(len(s.models) for s in self.slices))):
            model: Model = {}
            for s in self.slices:
                model.update(s.models[i % len(s.models)])
            found.append(model)
        return found


def disjoin(
    first: Sequence[Slice],
    second: Sequence[Slice],
    hint: Expr | None,
    intern: Callable[[Slice], Slice],
) -> Disjunction:
    """One set of slices for two sides, which must exclude each other.

    `hint` is a condition that is known to hold on the first side and not on the second. `intern` gives the
    slice that stands for all equal ones.
    """
    a, b = Side(first), Side(second)
    mine = [c for c in a.order if not b.implies(c)]
    others = [c for c in b.order if not a.implies(c)]
    alone = frozenset((*mine, *others))
    common = [c for c in dict.fromkeys((*a.order, *b.order)) if c not in alone]
    guard = hint if hint is not None else find_guard(a, mine, b, others)
    with_guard, without_guard = Consequences(guard), Consequences(negation(guard))
    rest_a = [c for c in mine if not with_guard.include(c)]
    rest_b = [c for c in others if not without_guard.include(c)]
    condition: Value = ite(guard, conjunction(rest_a), conjunction(rest_b), 1)
    if condition.__class__ is Expr:
        common = list(dict.fromkeys((*common, *conjuncts(condition))))
    assert condition is not False
    bounds = {v: union(bound, b.bounds[v]) for v, bound in a.bounds.items()}
    models = [*a.models()[:1], *b.models()[:1], *a.models()[1:], *b.models()[1:]][:MODELS_KEPT]
    slices = tuple(map(intern, components(bounds, models, common)))
    return Disjunction(guard, condition, slices)


def find_guard(a: Side, mine: list[Expr], b: Side, others: list[Expr]) -> Expr:
    """A single condition that parts the sides if there is one, else all that the first side has alone."""
    for c in mine:
        if b.implies(negation(c)):
            return c
    for c in others:
        if a.implies(negation(c)):
            return negation(c)
    whole = conjunction(mine)
    assert whole.__class__ is Expr, "the sides do not exclude each other"
    return whole


class Consequences:
    """What a guard alone implies, as far as it shows."""

    def __init__(self, guard: Expr) -> None:
        self._parts = frozenset(conjuncts(guard))
        self._values: dict[int, ValueSet] = {}
        for part in self._parts:
            variables = expr_vars(part)
            truth = truth_set(part) if len(variables) == 1 else None
            if truth is not None:
                known = self._values.get(variables[0])
                self._values[variables[0]] = truth if known is None else intersect(known, truth)

    def include(self, cond: Expr) -> bool:
        if cond in self._parts:
            return True
        variables = expr_vars(cond)
        if len(variables) != 1 or variables[0] not in self._values:
            return False
        wanted = truth_set(cond)
        return wanted is not None and not without(self._values[variables[0]], wanted)


def conjunction(conditions: Iterable[Expr]) -> Value:
    whole: Value = True
    for c in conditions:
        whole = bool_and(whole, c)
    return whole


def disjunction(conditions: Iterable[Value]) -> Value:
    whole: Value = False
    for c in conditions:
        whole = or_(whole, c, 1)
    return whole


def components(
    bounds: Mapping[int, ValueSet], models: Iterable[Model], constraints: Sequence[Expr]
) -> list[Slice]:
    """The constraints as connected slices over variables with bounds; every model satisfies them."""
    leader = {v: v for v in bounds}

    def find(v: int) -> int:
        while leader[v] != v:
            leader[v] = leader[leader[v]]
            v = leader[v]
        return v

    for c in constraints:
        first, *more = expr_vars(c)
        for v in more:
            leader[find(v)] = find(first)
    groups: dict[int, tuple[list[int], list[Expr]]] = {}
    for v in sorted(leader):
        groups.setdefault(find(v), ([], []))[0].append(v)
    for c in constraints:
        groups[find(expr_vars(c)[0])][1].append(c)
    kept = list(models)
    found = []
    for variables, parts in groups.values():
        own_bounds = {v: bounds[v] for v in variables}
        for c in parts:
            vs = expr_vars(c)
            truth = truth_set(c) if len(vs) == 1 else None
            if truth is not None:
                own_bounds[vs[0]] = intersect(own_bounds[vs[0]], truth)
        own = tuple(_distinct({v: m[v] for v in variables} for m in kept))
        values = exact_values(variables, parts)
        if values is not None:
            own_bounds = {variables[0]: values}
        found.append(
            make_slice(
                frozenset(parts), tuple(dict.fromkeys(parts)), tuple(variables), own, values, own_bounds
            )
        )
    return found


def exact_values(variables: Sequence[int], constraints: Iterable[Expr]) -> ValueSet | None:
    """The values of a single variable that satisfy the constraints, if they can be told exactly."""
    if len(variables) != 1:
        return None
    values = full_set(variable(variables[0]).w)
    for c in constraints:
        truth = truth_set(c)
        if truth is None:
            return None
        values = intersect(values, truth)
    return values


def _distinct(models: Iterable[Model]) -> list[Model]:
    found: list[Model] = []
    for model in models:
        if model not in found:
            found.append(model)
    return found


__all__ = ["Disjunction", "components", "conjunction", "disjoin", "disjunction"]

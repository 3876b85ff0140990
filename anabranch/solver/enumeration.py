"""Values that an expression can take: enumeration, minimum, maximum, and soft preferences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from anabranch.expr import MASK, Expr, Value, and_, eq, evaluate, expr_vars, ne, not_, ugt, ule, ult

from .backend import Model, SolverUnknown
from .slices import Slice, conjuncts

Check = Callable[[Sequence[Expr]], Model | None]


class Values(NamedTuple):
    """Feasible values; all of them if complete."""

    values: tuple[int, ...]
    complete: bool


def constraints_of(slices: Sequence[Slice]) -> tuple[Expr, ...]:
    """The constraints of several slices, in order."""
    return tuple(dict.fromkeys(c for s in slices for c in s.order))


def merged_model(slices: Sequence[Slice]) -> Model:
    """A model of several slices with different variables."""
    model: Model = {}
    for s in slices:
        model.update(s.model)
    return model


def feasible_values(check: Check, slices: Sequence[Slice], e: Value, limit: int) -> Values:
    """Up to `limit` values of the expression under the constraints of the slices, ascending."""
    if e.__class__ is not Expr:
        return Values((int(e),), True)
    mask = slices[0].values if len(slices) == 1 else None
    if isinstance(mask, int) and len(slices[0].vars) == 1:
        v = slices[0].vars[0]
        found = sorted({int(evaluate(e, {v: k})) for k in range(mask.bit_length()) if mask >> k & 1})
        return Values(tuple(found[:limit]), len(found) <= limit)
    models = [merged_model(slices)]
    if len(slices) == 1:
        models += slices[0].models[1:]
    values = list(dict.fromkeys(int(evaluate(e, m)) for m in models))[:limit]
    conds = list(constraints_of(slices))
    conds += _conditions(ne(e, v, e.w) for v in values)
    while len(values) < limit:
        model = check(conds)
        if model is None:
            return Values(tuple(sorted(values)), True)
        value = int(evaluate(e, model))
        values.append(value)
        conds += _conditions([ne(e, value, e.w)])
    return Values(tuple(sorted(values)), check(conds) is None)


def _conditions(values: object) -> list[Expr]:
    """The conditions among values, as a list of conjuncts; a constant false stays away (no solution left)."""
    out: list[Expr] = []
    for v in values:  # type: ignore[attr-defined]
        if v.__class__ is Expr:
            out += conjuncts(v)
    return out


def extreme(check: Check, slices: Sequence[Slice], e: Value, largest: bool, limit: int | None = None) -> int:
    """The least or the greatest unsigned value of the expression, by bisection.

    With a `limit`, the greatest one up to it; there must be one.
    """
    if e.__class__ is not Expr:
        return int(e)
    w = e.w
    conds = constraints_of(slices)
    best = int(evaluate(e, merged_model(slices)))
    highest = MASK[w] if limit is None else min(limit, MASK[w])
    if highest < MASK[w]:
        conds = (*conds, *_conditions([ule(e, highest, w)]))
        best = best if best <= highest else 0
    low, high = (best, highest) if largest else (0, best)
    while low < high:
        if largest:
            middle = (low + high + 1) // 2
            cond = not_(ult(e, middle, w)) if w > 1 else e
        else:
            middle = (low + high) // 2
            cond = ule(e, middle, w) if w > 1 else not_(e)
        model = None
        if cond is True:
            model = merged_model(slices)
        elif cond is not False:
            model = check((*conds, *conjuncts(cond)))
        if model is None:
            low, high = (low, middle - 1) if largest else (middle + 1, high)
        else:
            value = int(evaluate(e, model))
            low, high = (value, high) if largest else (low, value)
    return low


BETWEEN = 3
"""How many values between the smallest and the largest one stand for the others."""


def representatives(check: Check, slices: Sequence[Slice], e: Expr, most: int) -> tuple[int, ...]:
    """A handful of the values of an expression that has many: the least, the one after it, the greatest up to
    `most`, and some between, at distances from the least that grow by a factor. Ascending."""
    conds = constraints_of(slices)
    least = extreme(check, slices, e, largest=False)
    if least >= most:
        return (least,)
    greatest = extreme(check, slices, e, largest=True, limit=most)
    steps = [(greatest - least) ** (k / (BETWEEN + 1)) for k in range(1, BETWEEN + 1)]
    found = {least, greatest}
    for wanted in (least + 1, *(least + int(step) for step in steps)):
        if wanted in found or wanted >= greatest:
            continue
        for near in (eq(e, wanted, e.w), and_(ugt(e, wanted, e.w), ult(e, greatest, e.w), 1)):
            model = check((*conds, *_conditions([near]))) if near is not False else None
            if model is not None:
                found.add(int(evaluate(e, model)))
                break
    return tuple(sorted(found))


def preferred(
    check: Check, slices: Sequence[Slice], start: Model, wishes: Sequence[Value], limit: int
) -> Model:
    """A model of the slices that fulfils wishes greedily, in order, with at most `limit` queries.

    When the solver gives up on one, no more are asked for.
    """
    model = dict(start)
    groups = _Groups(slices)
    for wish in wishes:
        if wish.__class__ is not Expr:
            continue
        if evaluate(wish, model) is True:
            groups.add(wish)
            continue
        if limit <= 0:
            continue
        limit -= 1
        try:
            found = check((*groups.constraints(wish), *conjuncts(wish)))
        except SolverUnknown:
            limit = 0
            continue
        if found is not None:
            model.update(found)
            groups.add(wish)
    return model


class _Groups:
    """Constraints and wishes by the variables that they connect."""

    def __init__(self, slices: Sequence[Slice]) -> None:
        self._of: dict[int, tuple[Expr, ...]] = {v: s.order for s in slices for v in s.vars}

    def constraints(self, cond: Expr) -> tuple[Expr, ...]:
        """All that a condition has to agree with."""
        groups = {id(g): g for v in expr_vars(cond) if (g := self._of.get(v)) is not None}
        return tuple(c for group in groups.values() for c in group)

    def add(self, cond: Expr) -> None:
        """One more condition, which may connect groups."""
        joined = (*self.constraints(cond), *conjuncts(cond))
        variables = {v for c in joined for v in expr_vars(c)}
        self._of.update(dict.fromkeys(variables, joined))


def variables_of(conds: Sequence[Expr]) -> tuple[int, ...]:
    """All variables of some conditions, ascending."""
    return tuple(sorted({v for c in conds for v in expr_vars(c)}))

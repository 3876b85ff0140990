"""Few values: the possible values of an expression where choices and small sets leave only some."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from anabranch.expr import Expr
from anabranch.expr.node import ITE, SELECT, VAR
from anabranch.expr.registry import OPERATORS
from anabranch.expr.variables import postorder_within, values_within

from .valuesets import ValueSet

NODES_LIMIT = 300
VALUES_LIMIT = 2000  # nodes if what decides choices is left out
COMBINATIONS = 1024  # of operands' values that are tried for a node
BOTH = frozenset((False, True))


def members(values: ValueSet, limit: int) -> frozenset[int] | None:
    """The members of a set if they are at most `limit`."""
    if isinstance(values, int):
        if values.bit_count() > limit:
            return None
        return frozenset(v for v in range(values.bit_length()) if values >> v & 1)
    if sum(high - low + 1 for low, high in values) > limit:
        return None
    return frozenset(v for low, high in values for v in range(low, high + 1))


def few_values(e: Expr, sets: Mapping[int, ValueSet], limit: int) -> frozenset[int] | None:
    """A set of at most `limit` values that holds every value of the expression, or None.

    `sets` holds every value of each variable.
    """
    order = postorder_within([e], NODES_LIMIT) or values_within(e, VALUES_LIMIT)
    if order is None:
        return None
    memo: dict[Expr, frozenset[Any] | None] = {}
    for n in order:
        if n.op == VAR:
            known = sets.get(n.a)
            found = None if known is None else members(known, limit)
            if found is not None and n.w == 1:
                found = frozenset(map(bool, found))
        else:
            found = _values(n, memo, limit)
        memo[n] = BOTH if found is None and n.w == 1 else found
    return memo[e]


def _values(n: Expr, memo: Mapping[Expr, frozenset[Any] | None], limit: int) -> frozenset[Any] | None:
    operands: list[frozenset[Any]] = []
    if n.op == ITE:
        condition = memo.get(n.a, BOTH)
        assert condition is not None
        sides = [x for x, taken in ((n.b, True), (n.c, False)) if taken in condition]
        union: frozenset[Any] = frozenset()
        for x in sides:
            side = memo[x] if x.__class__ is Expr else frozenset((x,))
            if side is None:
                return None
            union |= side
        return union if len(union) <= limit else None
    if n.op == SELECT and memo.get(n.a) is None:
        found = frozenset(n.c.values)
        return found if len(found) <= limit else None
    combinations = 1
    for x in (n.a, n.b, n.c):
        values = memo[x] if x.__class__ is Expr else frozenset((x,))
        if values is None:
            return None
        combinations *= len(values)
        operands.append(values)
    operator = OPERATORS[n.op]
    if combinations > COMBINATIONS or operator.binds:
        return None
    found = frozenset(operator.evaluate(n, *values) for values in product(*operands))
    return found if len(found) <= limit else None

"""When a value may depend on uninitialised data."""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr, expr_vars, ite, or_
from anabranch.expr.node import ITE, VAR
from anabranch.expr.variables import postorder

Value = Any


def reaches_undefined(e: Expr) -> Value:
    """A condition on defined data without which uninitialised data has no influence on the value.

    The choices in the value decide: what is not chosen has no influence. True if that tells nothing.
    """
    memo: dict[Expr, Value] = {}
    for n in postorder([e]):
        if n.op == VAR:
            memo[n] = n.a < 0
            continue
        if expr_vars(n)[0] >= 0:
            memo[n] = False
            continue
        a, b, c = (memo[x] if x.__class__ is Expr else False for x in (n.a, n.b, n.c))
        if n.op == ITE and a is False:
            memo[n] = ite(n.a, b, c, 1)
        else:
            memo[n] = or_(or_(a, b, 1), c, 1)
    return memo[e]

"""Operators that no solver knows, by operators that all know (`Operator.lower`)."""

from __future__ import annotations

from .evaluate import substitute
from .node import Expr, Value
from .registry import OPERATORS
from .variables import postorder

_lowered: dict[Expr, Value] = {}


def lowered(n: Expr) -> Value | None:
    """The node by operators that the solvers know, over the same operands; None if they know it."""
    operator = OPERATORS.get(n.op)
    if operator is None or operator.lower is None:
        return None
    known = _lowered.get(n)
    if known is None:
        known = operator.lower(n)
        if known is not None:
            _lowered[n] = known
    return known


def for_solvers(e: Value) -> Value:
    """The expression with all its nodes lowered."""
    while e.__class__ is Expr:
        replaced: dict[Expr, Value] = {}
        for n in postorder([e]):  # operands come first
            bits = lowered(n)
            if bits is not None:
                replaced[n] = substitute(bits, replaced)
        if not replaced:
            break
        e = substitute(e, replaced)
    return e

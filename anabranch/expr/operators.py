"""The Python operators of Expr: what code generated without type tests calls.

One side may be an integer (a bool for width 1). Results over a constant are remembered on the node, so that a
branch met again costs one dictionary lookup. `/`, `//` and `%` are absent: division needs its checks.
"""

from __future__ import annotations

from typing import Any

from . import node
from .arith import add, add_const, lshr, mul, shl, sub
from .bits import and_, and_const, or_, xor, xor_const
from .boolean import negation
from .compare import eq, eq_const, ult, ult_const
from .node import MASK, Expr

_EMPTY = node._EMPTY


def _eq(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        try:
            return x.eqm[y]
        except KeyError:
            if x.eqm is _EMPTY:
                x.eqm = {}
            r = x.eqm[y] = eq_const(x, y & MASK[x.w])
            return r
    if y.__class__ is Expr or y.__class__ is bool:
        return eq(x, y, x.w)
    return NotImplemented


def _ne(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        try:
            return x.eqm[~y]
        except KeyError:
            r = x == y
            r = x.eqm[~y] = _not(r)
            return r
    if y.__class__ is Expr or y.__class__ is bool:
        return _not(eq(x, y, x.w))
    return NotImplemented


def _not(x: Any) -> Any:
    if x.__class__ is not Expr:
        return not x
    n = x.neg
    return negation(x) if n is None else n


def _lt(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        try:
            return x.ltm[y]
        except KeyError:
            if x.ltm is _EMPTY:
                x.ltm = {}
            r = x.ltm[y] = ult_const(x, y)
            return r
    return ult(x, y, x.w)


def _ge(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        try:
            return x.ltm[~y]
        except KeyError:
            r = x < y
            r = x.ltm[~y] = _not(r)
            return r
    return _not(ult(x, y, x.w))


def _le(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        return x < y + 1
    return _not(ult(y, x, x.w))


def _gt(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        return x >= y + 1
    return ult(y, x, x.w)


def _add(x: Expr, y: Any) -> Any:
    if y.__class__ is int and x.w != 1:
        try:
            return x.opm[~y]
        except KeyError:
            r = add_const(x, y)
            if x.opm is _EMPTY:
                x.opm = {}
            x.opm[~y] = r
            return r
    return add(x, y, x.w)


def _xor(x: Expr, y: Any) -> Any:
    if y.__class__ is int and x.w != 1:
        try:
            return x.opm[y]
        except KeyError:
            r = xor_const(x, y)
            if x.opm is _EMPTY:
                x.opm = {}
            x.opm[y] = r
            return r
    return xor(x, y, x.w)


def _and(x: Expr, y: Any) -> Any:
    w = x.w
    if y.__class__ is int and w != 1:
        return x if y == MASK[w] else and_const(x, y)
    return and_(x, y, w)


def _or(x: Expr, y: Any) -> Any:
    return or_(x, y, x.w)


def _sub(x: Expr, y: Any) -> Any:
    return sub(x, y, x.w)


def _rsub(x: Expr, y: Any) -> Any:
    return sub(y, x, x.w)


def _mul(x: Expr, y: Any) -> Any:
    return mul(x, y, x.w)


def _lshift(x: Expr, y: Any) -> Any:
    return shl(x, y, x.w)


def _rlshift(x: Expr, y: Any) -> Any:
    return shl(y, x, x.w)


def _rshift(x: Expr, y: Any) -> Any:
    return lshr(x, y, x.w)


def _rrshift(x: Expr, y: Any) -> Any:
    return lshr(y, x, x.w)


def _invert(x: Expr) -> Any:
    return _not(x) if x.w == 1 else xor_const(x, MASK[x.w])


OPERATORS = {
    "__eq__": _eq,
    "__ne__": _ne,
    "__lt__": _lt,
    "__le__": _le,
    "__gt__": _gt,
    "__ge__": _ge,
    "__add__": _add,
    "__radd__": _add,
    "__sub__": _sub,
    "__rsub__": _rsub,
    "__mul__": _mul,
    "__rmul__": _mul,
    "__and__": _and,
    "__rand__": _and,
    "__or__": _or,
    "__ror__": _or,
    "__xor__": _xor,
    "__rxor__": _xor,
    "__lshift__": _lshift,
    "__rlshift__": _rlshift,
    "__rshift__": _rshift,
    "__rrshift__": _rrshift,
    "__invert__": _invert,
}


def install() -> None:
    """Gives Expr its operators."""
    for name, function in OPERATORS.items():
        setattr(Expr, name, function)

"""The Python operators of Expr: what code generated without type tests calls.

One side may be an integer (a bool for width 1). Results over a constant are remembered on the node: a branch
met again costs one dictionary lookup. `/`, `//` and `%` are absent: division needs its checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import node
from .arith import add, add_const, lshr, mul, mul_const, shl, shl_const, sub
from .bits import and_, and_const, or_, or_const, xor, xor_const
from .boolean import negation
from .compare import eq, eq_const, ult, ult_const
from .node import MASK, Expr

_EMPTY = node._EMPTY
_NODES = node.NODES

# Results over a constant c are kept in `opm` of the node under c + k * 2**w, with a k for each operation
# (addition under ~c). They are kept from the second time on: most nodes of a long computation are used once.
_AND_KEY = [1 << w for w in range(len(MASK))]


def _eq(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        r = x.eqm.get(y)
        if r is None:
            known = len(_NODES)
            r = eq_const(x, y & MASK[x.w])
            if len(_NODES) == known:
                if x.eqm is _EMPTY:
                    x.eqm = {}
                x.eqm[y] = r
        return r
    if y.__class__ is Expr or y.__class__ is bool:
        return eq(x, y, x.w)
    return NotImplemented


def _ne(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        r = x.eqm.get(~y)
        if r is None:
            known = len(_NODES)
            r = _not(eq_const(x, y & MASK[x.w]))
            if len(_NODES) == known:
                if x.eqm is _EMPTY:
                    x.eqm = {}
                x.eqm[~y] = r
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
        r = x.ltm.get(y)
        if r is None:
            known = len(_NODES)
            r = ult_const(x, y)
            if len(_NODES) == known:
                if x.ltm is _EMPTY:
                    x.ltm = {}
                x.ltm[y] = r
        return r
    return ult(x, y, x.w)


def _ge(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        r = x.ltm.get(~y)
        if r is None:
            known = len(_NODES)
            r = _not(ult_const(x, y))
            if len(_NODES) == known:
                if x.ltm is _EMPTY:
                    x.ltm = {}
                x.ltm[~y] = r
        return r
    return _not(ult(x, y, x.w))


def _le(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        y += 1
        r = x.ltm.get(y)
        return _lt(x, y) if r is None else r
    return _not(ult(y, x, x.w))


def _gt(x: Expr, y: Any) -> Any:
    if y.__class__ is int:
        r = x.ltm.get(-2 - y)  # ~(y + 1)
        return _ge(x, y + 1) if r is None else r
    return ult(y, x, x.w)


def _remembered(x: Expr, y: int, key: int, f: Callable[[Expr, int], Any]) -> Any:
    """f(x, y), kept under the key if it makes no new node."""
    known = len(_NODES)
    r = f(x, y)
    if len(_NODES) == known:
        if x.opm is _EMPTY:
            x.opm = {}
        x.opm[key] = r
    return r


def _add(x: Expr, y: Any) -> Any:
    if y.__class__ is int and x.w != 1:
        r = x.opm.get(~y)
        return _remembered(x, y, ~y, add_const) if r is None else r
    return add(x, y, x.w)


def _sub(x: Expr, y: Any) -> Any:
    if y.__class__ is int and x.w != 1:
        y = -y & MASK[x.w]
        r = x.opm.get(~y)
        return _remembered(x, y, ~y, add_const) if r is None else r
    return sub(x, y, x.w)


def _xor(x: Expr, y: Any) -> Any:
    if y.__class__ is int and x.w != 1:
        r = x.opm.get(y)
        return _remembered(x, y, y, xor_const) if r is None else r
    return xor(x, y, x.w)


def _with_constant(
    k: int, by_constant: Callable[[Expr, int], Any], construct: Callable[[Any, Any, int], Any]
) -> Callable[[Expr, Any], Any]:
    """An operator whose results over a constant are kept."""
    keys = [k << w for w in range(len(MASK))]

    def operator(x: Expr, y: Any) -> Any:
        w = x.w
        if y.__class__ is int and w != 1:
            key = y + keys[w]
            r = x.opm.get(key)
            return _remembered(x, y, key, by_constant) if r is None else r
        return construct(x, y, w)

    return operator


_or = _with_constant(2, or_const, or_)
_mul = _with_constant(3, mul_const, mul)
_lshift = _with_constant(4, shl_const, shl)
_rshift = _with_constant(5, lambda x, y: lshr(x, y, x.w), lshr)


def _and(x: Expr, y: Any) -> Any:
    w = x.w
    if y.__class__ is int and w != 1:
        if y == MASK[w]:
            return x
        key = y + _AND_KEY[w]
        r = x.opm.get(key)
        return _remembered(x, y, key, and_const) if r is None else r
    return and_(x, y, w)


def _rsub(x: Expr, y: Any) -> Any:
    return sub(y, x, x.w)


def _rlshift(x: Expr, y: Any) -> Any:
    return shl(y, x, x.w)


def _rrshift(x: Expr, y: Any) -> Any:
    return lshr(y, x, x.w)


def _invert(x: Expr) -> Any:
    return _not(x) if x.w == 1 else xor_const(x, MASK[x.w])


_METHODS = {
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
    for name, function in _METHODS.items():
        setattr(Expr, name, function)

"""Division and remainder, with SMT-LIB's results for a zero divisor."""

from __future__ import annotations

from collections.abc import Callable

from .arith import const_sub, is_power_of_two, low_mask, lshr
from .boolean import as_bool, bool_and, not_
from .casts import extract, zext
from .node import MASK, SDIV, SREM, UDIV, UREM, ZEXT, Expr, Value, binary, binary_const, const_binary


def _signed(x: int, w: int) -> int:
    return x - ((x >> (w - 1)) << w)


def _fold_sdiv(x: int, y: int, w: int) -> int:
    """Concrete signed quotient, towards zero."""
    p, q = _signed(x, w), _signed(y, w)
    if q == 0:
        return 1 if p < 0 else MASK[w]
    r = abs(p) // abs(q)
    return (-r if (p < 0) != (q < 0) else r) & MASK[w]


def _fold_srem(x: int, y: int, w: int) -> int:
    """Concrete signed remainder, with the sign of the dividend."""
    p, q = _signed(x, w), _signed(y, w)
    if q == 0:
        return x
    r = abs(p) % abs(q)
    return (-r if p < 0 else r) & MASK[w]


def _node(op: str, x: Value, y: Value, w: int) -> Value:
    if x.__class__ is Expr:
        return binary(op, w, x, y) if y.__class__ is Expr else binary_const(op, w, x, y)
    return const_binary(op, w, x, y)


def _narrowed(x: Value, y: Value, w: int) -> int:
    """A width that both operands fit below zero extensions of, or w."""
    n = 0
    for v in (x, y):
        if v.__class__ is Expr:
            if v.op != ZEXT or v.a.w == 1:
                return w
            n = max(n, v.a.w)
        else:
            n = max(n, v.bit_length(), 2)
    return n


def _at_width(x: Value, y: Value, w: int, n: int, f: Callable[[Value, Value, int], Value]) -> Value:
    return zext(f(extract(x, 0, n, w), extract(y, 0, n, w), n), n, w)


def udiv(x: Value, y: Value, w: int) -> Value:
    """Unsigned quotient; all ones for a zero divisor."""
    if w == 1:
        return not_(bool_and(not_(as_bool(x)), as_bool(y)))
    if y.__class__ is not Expr:
        if x.__class__ is not Expr:
            return x // y if y else MASK[w]
        if y == 0:
            return MASK[w]
        if is_power_of_two(y):
            return lshr(x, y.bit_length() - 1, w)
        if x.op == UDIV and x.b.__class__ is int:
            whole = x.b * y
            return udiv(x.a, whole, w) if whole <= MASK[w] else 0
        n = _narrowed(x, y, w)
        if n < w:
            return _at_width(x, y, w, n, udiv)
    return _node(UDIV, x, y, w)


def urem(x: Value, y: Value, w: int) -> Value:
    """Unsigned remainder; the dividend for a zero divisor."""
    if w == 1:
        return bool_and(as_bool(x), not_(as_bool(y)))
    if y.__class__ is not Expr:
        if x.__class__ is not Expr:
            return x % y if y else x
        if y == 0:
            return x
        if is_power_of_two(y):
            return low_mask(x, y.bit_length() - 1, w)
    elif x.__class__ is not Expr and x == 0:
        return 0
    n = _narrowed(x, y, w)
    if n < w:
        return _at_width(x, y, w, n, urem)
    return _node(UREM, x, y, w)


def _not_negative(x: Value, w: int) -> bool:
    """Whether the sign bit is zero by the shape."""
    return bool(x.op == ZEXT) if x.__class__ is Expr else x >> (w - 1) == 0


def sdiv(x: Value, y: Value, w: int) -> Value:
    """Signed quotient towards zero; 1 or -1 for a zero divisor, against the sign of the dividend."""
    if w == 1:
        return not_(bool_and(not_(as_bool(x)), as_bool(y)))
    if x.__class__ is not Expr and y.__class__ is not Expr:
        return _fold_sdiv(x, y, w)
    if y.__class__ is not Expr:
        if y == 1:
            return x
        if y == MASK[w]:
            return const_sub(0, x)
    if _not_negative(x, w) and _not_negative(y, w):
        return udiv(x, y, w)
    return _node(SDIV, x, y, w)


def srem(x: Value, y: Value, w: int) -> Value:
    """Signed remainder with the sign of the dividend; the dividend for a zero divisor."""
    if w == 1:
        return bool_and(as_bool(x), not_(as_bool(y)))
    if x.__class__ is not Expr and y.__class__ is not Expr:
        return _fold_srem(x, y, w)
    if y.__class__ is not Expr:
        if y in (1, MASK[w]):
            return 0
    elif x.__class__ is not Expr and x == 0:
        return 0
    if _not_negative(x, w) and _not_negative(y, w):
        return urem(x, y, w)
    return _node(SREM, x, y, w)

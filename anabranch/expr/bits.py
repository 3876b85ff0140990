"""Bitwise operators, and what the shape of a value says of its bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .boolean import as_bool, bool_and, bool_or, bool_xor, const_ite, negation
from .casts import concat, extract, sext, zext
from .node import (
    ADD,
    AND,
    CONCAT,
    ITE,
    MASK,
    OR,
    SEXT,
    SHL,
    UREM,
    XOR,
    ZEXT,
    Expr,
    Value,
    binary,
    binary_const,
)

# -- shapes -----------------------------------------------------------------------------------------------


def low_zeros(x: Expr) -> Any:
    """How many low bits are known to be zero by the shape."""
    if x.op == ZEXT:
        x = x.a
    while x.op == CONCAT:
        low = x.b
        if low.__class__ is not Expr:
            w: int = x.w - x.a.w
            return (low & -low).bit_length() - 1 if low else w
        x = low
    if x.op == SHL and x.b.__class__ is int:
        return x.b
    return 0


def maybe_ones(x: Expr) -> Any:
    """A superset of the bits that can be one, by the shape."""
    op = x.op
    if op == ZEXT:
        return MASK[x.a.w] if x.a.op != AND else maybe_ones(x.a)
    if op == AND and x.b.__class__ is int:
        return x.b
    if op == CONCAT and x.b.__class__ is int:
        return MASK[x.w] ^ MASK[x.w - x.a.w] | x.b
    if op == SHL and x.b.__class__ is int:
        return MASK[x.w] ^ MASK[x.b]
    if op == ITE and x.b.__class__ is int and x.c.__class__ is int:
        return x.b | x.c
    if op == UREM and x.b.__class__ is int and x.b:
        return MASK[(x.b - 1).bit_length()]
    return MASK[x.w]


# -- and, or, xor with a constant -------------------------------------------------------------------------


def and_const(x: Expr, c: int) -> Value:
    """x & c."""
    w = x.w
    c &= MASK[w]
    if c == MASK[w]:
        return x
    if c == 0:
        return 0
    ones = maybe_ones(x)
    if ones & c == ones:
        return x
    c &= ones
    if c == 0:
        return 0
    op = x.op
    if op == ZEXT:
        return zext(and_const(x.a, c), x.a.w, w)
    if x.b.__class__ is int:
        b: int = x.b
        if op == AND:
            return and_const(x.a, b & c)
        if op == OR:
            return or_const_value(and_const(x.a, c & ~b), b & c, w)
        if op == XOR:
            return xor_const_value(and_const(x.a, c), b & c, w)
        if op == ITE and x.c.__class__ is int:
            return const_ite(x.a, b & c, x.c & c, w)
    elif op in (OR, XOR):
        if maybe_ones(x.a) & c == 0:
            return and_const(x.b, c)
        if maybe_ones(x.b) & c == 0:
            return and_const(x.a, c)
    if c & (c + 1) == 0:
        k = c.bit_length()
        return zext(extract(x, 0, k), k, w)
    if op == CONCAT:
        k = w - x.a.w if x.a.__class__ is Expr else x.b.w
        high, low = c >> k, c & MASK[k]
        if high == 0 or low == 0 or high == MASK[w - k] or low == MASK[k]:
            return concat(and_(x.a, high, w - k), w - k, and_(x.b, low, k), k)
    return binary_const(AND, w, x, c)


def or_const(x: Expr, c: int) -> Value:
    """x | c."""
    w = x.w
    c &= MASK[w]
    if c == 0:
        return x
    if c == MASK[w]:
        return c
    op = x.op
    if op == ZEXT:
        if c <= MASK[x.a.w]:
            return zext(or_(x.a, c, x.a.w), x.a.w, w)
    elif x.b.__class__ is int:
        b: int = x.b
        if op == OR:
            return binary_const(OR, w, x.a, b | c) if b | c != MASK[w] else MASK[w]
        if op == AND and b & c:
            return or_const_value(and_const(x.a, b & ~c), c, w)
        if op == AND and b | c == MASK[w]:
            return or_const(x.a, c)
        if op == ITE and x.c.__class__ is int:
            return const_ite(x.a, b | c, x.c | c, w)
        if op == CONCAT and c <= MASK[w - x.a.w]:
            return concat(x.a, x.a.w, b | c, w - x.a.w)
    return binary_const(OR, w, x, c)


def xor_const(x: Expr, c: int) -> Value:
    """x ^ c."""
    w = x.w
    c &= MASK[w]
    if c == 0:
        return x
    op = x.op
    if op == ZEXT:
        if c <= MASK[x.a.w]:
            return zext(xor(x.a, c, x.a.w), x.a.w, w)
    elif op == SEXT:
        if c == MASK[w]:
            return sext(xor(x.a, MASK[x.a.w], x.a.w), x.a.w, w)
    elif x.b.__class__ is int:
        b: int = x.b
        if op == XOR:
            return binary_const(XOR, w, x.a, b ^ c) if b != c else x.a
        if op == ITE and x.c.__class__ is int:
            return const_ite(x.a, b ^ c, x.c ^ c, w)
        if op == ADD and c == MASK[w]:
            return NEGATE_SUM(x, w)
    return binary_const(XOR, w, x, c)


def _no_sum(x: Expr, w: int) -> Value:
    raise NotImplementedError


# ~(x + c) as a difference; arith.py, which knows differences, puts its rule here.
NEGATE_SUM: Callable[[Expr, int], Value] = _no_sum


def or_const_value(x: Value, c: int, w: int) -> Value:
    """x | c where x may be constant."""
    return or_const(x, c) if x.__class__ is Expr else x | c


def xor_const_value(x: Value, c: int, w: int) -> Value:
    """x ^ c where x may be constant."""
    return xor_const(x, c) if x.__class__ is Expr else x ^ c


# -- and, or, xor -----------------------------------------------------------------------------------------


def _and_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return x
    w = x.w
    if x.op == ZEXT:
        n = x.a.w
        return zext(and_(x.a, extract(y, 0, n), n), n, w)
    if y.op == ZEXT:
        n = y.a.w
        return zext(and_(y.a, extract(x, 0, n), n), n, w)
    if x.op == SEXT and y.op == SEXT and x.a.w == y.a.w:
        return sext(and_(x.a, y.a, x.a.w), x.a.w, w)
    return binary(AND, w, x, y) if x.id < y.id else binary(AND, w, y, x)


def _or_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return x
    w = x.w
    r = join_disjoint(x, y)
    if r is not None:
        return r
    if x.op == y.op and x.op in (ZEXT, SEXT) and x.a.w == y.a.w:
        n = x.a.w
        r = or_(x.a, y.a, n)
        return zext(r, n, w) if x.op == ZEXT else sext(r, n, w)
    return binary(OR, w, x, y) if x.id < y.id else binary(OR, w, y, x)


def _xor_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return 0
    w = x.w
    if x.op == y.op and x.op in (ZEXT, SEXT) and x.a.w == y.a.w:
        n = x.a.w
        r = xor(x.a, y.a, n)
        return zext(r, n, w) if x.op == ZEXT else sext(r, n, w)
    if x.op == XOR and x.b.__class__ is int:
        return xor(xor(x.a, y, w), x.b, w)
    if y.op == XOR and y.b.__class__ is int:
        return xor(xor(x, y.a, w), y.b, w)
    return binary(XOR, w, x, y) if x.id < y.id else binary(XOR, w, y, x)


def join_disjoint(x: Expr, y: Expr) -> Value | None:
    """x | y as a concatenation where one has only zeros below the other: bytes put together by shifts."""
    if x.op == ZEXT or y.op == ZEXT:
        for high, low in ((x, y), (y, x)):
            if low.op == ZEXT and (k := low_zeros(high)) >= low.a.w:
                w = high.w
                k = max(low.a.w, min(k, w - 1))
                return concat(extract(high, k, w - k), w - k, zext(low.a, low.a.w, k), k)
    return None


def and_(x: Value, y: Value, w: int) -> Value:
    """Bitwise and."""
    if w == 1:
        return bool_and(as_bool(x), as_bool(y))
    if x.__class__ is Expr:
        return _and_nodes(x, y) if y.__class__ is Expr else and_const(x, y)
    return and_const(y, x) if y.__class__ is Expr else x & y


def or_(x: Value, y: Value, w: int) -> Value:
    """Bitwise or."""
    if w == 1:
        return bool_or(as_bool(x), as_bool(y))
    if x.__class__ is Expr:
        return _or_nodes(x, y) if y.__class__ is Expr else or_const(x, y)
    return or_const(y, x) if y.__class__ is Expr else x | y


def xor(x: Value, y: Value, w: int) -> Value:
    """Bitwise exclusive or."""
    if w == 1:
        return bool_xor(as_bool(x), as_bool(y))
    if x.__class__ is Expr:
        return _xor_nodes(x, y) if y.__class__ is Expr else xor_const(x, y)
    return xor_const(y, x) if y.__class__ is Expr else x ^ y


def bit(x: Expr, i: int) -> Value:
    """Bit i as a Boolean."""
    return extract(x, i, 1)


def bit_zero(x: Expr, i: int) -> Value:
    """Whether bit i is zero."""
    v = extract(x, i, 1)
    return negation(v) if v.__class__ is Expr else not v

"""Width casts, concatenation, extraction and bitwise operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .boolean import _const_ite, as_bool, bool_and, bool_or, bool_xor, ite, negation, not_
from .node import (
    ADD,
    AND,
    CONCAT,
    EXTRACT,
    ITE,
    MASK,
    NODES,
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
    make,
    unary,
)

# -- extensions -------------------------------------------------------------------------------------------


def zext(x: Value, w_from: int, w_to: int) -> Value:
    """x with zeros above."""
    if w_from == w_to:
        return x
    if x.__class__ is not Expr:
        return int(x)
    op = x.op
    if op == ZEXT:
        x = x.a
    elif op == ITE and x.b.__class__ is int and x.c.__class__ is int:
        return _const_ite(x.a, x.b, x.c, w_to)
    return unary(ZEXT, w_to, x)


def sext(x: Value, w_from: int, w_to: int) -> Value:
    """x with its sign bit above."""
    if w_from == w_to:
        return x
    if x.__class__ is not Expr:
        return (MASK[w_to] ^ MASK[w_from]) | x if x >> (w_from - 1) else int(x)
    op = x.op
    if op == ZEXT:
        return unary(ZEXT, w_to, x.a)
    if op == SEXT:
        x = x.a
    elif op == ITE and x.b.__class__ is int and x.c.__class__ is int:
        p = sext(x.b, w_from, w_to)
        return _const_ite(x.a, p, sext(x.c, w_from, w_to), w_to)
    return unary(SEXT, w_to, x)


# -- extraction -------------------------------------------------------------------------------------------

# Rules by the operator below: (operand, low bit, width) -> value, or None if no rule fits.
EXTRACT_RULES: dict[str, Callable[[Expr, int, int], Value | None]] = {}


def extract(x: Value, lo: int, w: int, w_from: int = 0) -> Value:
    """Bits lo .. lo+w-1 of x."""
    if x.__class__ is not Expr:
        r = x >> lo & MASK[w]
        return bool(r) if w == 1 else r
    if w == x.w:
        return x
    key = (EXTRACT, x.id, lo, w)
    n = NODES.get(key)
    if n is not None:
        return n
    rule = EXTRACT_RULES.get(x.op)
    if rule is not None:
        v = rule(x, lo, w)
        if v is not None:
            return v
    return make(key, EXTRACT, w, x, None, lo)


def trunc(x: Value, w_from: int, w_to: int) -> Value:
    """The low w_to bits of x."""
    return extract(x, 0, w_to, w_from)


def _extract_extract(x: Expr, lo: int, w: int) -> Value | None:
    return extract(x.a, x.c + lo, w)


def _extract_concat(x: Expr, lo: int, w: int) -> Value | None:
    low_w = x.w - x.a.w if x.a.__class__ is Expr else x.b.w
    if lo >= low_w:
        return extract(x.a, lo - low_w, w)
    if lo + w <= low_w:
        return extract(x.b, lo, w)
    n = low_w - lo
    return concat(extract(x.a, 0, w - n), w - n, extract(x.b, lo, n), n)


def _extract_zext(x: Expr, lo: int, w: int) -> Value | None:
    inner = x.a
    n = inner.w
    if lo >= n:
        return False if w == 1 else 0
    if lo + w <= n:
        return extract(inner, lo, w)
    return zext(extract(inner, lo, n - lo), n - lo, w)


def _extract_sext(x: Expr, lo: int, w: int) -> Value | None:
    inner = x.a
    n = inner.w
    if lo + w <= n:
        return extract(inner, lo, w)
    if lo >= n:
        lo = n - 1
    return sext(extract(inner, lo, n - lo), n - lo, w)


def _extract_ite(x: Expr, lo: int, w: int) -> Value | None:
    if x.b.__class__ is int and x.c.__class__ is int:
        return ite(x.a, extract(x.b, lo, w), extract(x.c, lo, w), w)
    return None


def _extract_and(x: Expr, lo: int, w: int) -> Value | None:
    if x.b.__class__ is int:
        c = x.b >> lo & MASK[w]
        if c == 0:
            return False if w == 1 else 0
        if c == MASK[w]:
            return extract(x.a, lo, w)
    return None


def _extract_or(x: Expr, lo: int, w: int) -> Value | None:
    if x.b.__class__ is int:
        c = x.b >> lo & MASK[w]
        if c == 0:
            return extract(x.a, lo, w)
        if c == MASK[w]:
            return True if w == 1 else c
        return c if _no_bits(x.a, lo, w) else None
    if _no_bits(x.a, lo, w):
        return extract(x.b, lo, w)
    if _no_bits(x.b, lo, w):
        return extract(x.a, lo, w)
    return None


def _no_bits(x: Expr, lo: int, w: int) -> bool:
    """Are these bits of x plainly zero: masked, or above what was extended? (So are fields joined.)"""
    if x.op == AND:
        return x.b.__class__ is int and not x.b >> lo & MASK[w]
    return x.op == ZEXT and lo >= x.a.w


def _extract_xor(x: Expr, lo: int, w: int) -> Value | None:
    if x.b.__class__ is int:
        c = x.b >> lo & MASK[w]
        if c == 0:
            return extract(x.a, lo, w)
        if w == 1:
            return not_(extract(x.a, lo, 1))
    return None


EXTRACT_RULES.update(
    {
        EXTRACT: _extract_extract,
        CONCAT: _extract_concat,
        ZEXT: _extract_zext,
        SEXT: _extract_sext,
        ITE: _extract_ite,
        AND: _extract_and,
        OR: _extract_or,
        XOR: _extract_xor,
    }
)

# -- concatenation ----------------------------------------------------------------------------------------


def concat(hi: Value, hi_w: int, lo: Value, lo_w: int) -> Value:
    """hi above lo. Nested concatenations lean to the right; neighbouring pieces of one value become whole."""
    if hi.__class__ is not Expr:
        if lo.__class__ is not Expr:
            return hi << lo_w | lo
        if hi == 0:
            return zext(lo, lo_w, hi_w + lo_w)
        if lo.op == CONCAT and lo.a.__class__ is not Expr:
            k = lo_w - lo.b.w
            return concat(hi << k | lo.a, hi_w + k, lo.b, lo.b.w)
        key: tuple[object, ...] = (CONCAT, int(hi), lo.id, hi_w, 1)
    else:
        op = hi.op
        if op == CONCAT:
            k = hi.w - hi.a.w if hi.a.__class__ is Expr else hi.b.w
            return concat(hi.a, hi_w - k, concat(hi.b, k, lo, lo_w), k + lo_w)
        if op == ZEXT:
            k = hi.a.w
            return zext(concat(hi.a, k, lo, lo_w), k + lo_w, hi_w + lo_w)
        if lo.__class__ is not Expr:
            if op == ITE and hi.b.__class__ is int and hi.c.__class__ is int:
                return _const_ite(hi.a, hi.b << lo_w | lo, hi.c << lo_w | lo, hi_w + lo_w)
            key = (CONCAT, hi.id, int(lo), lo_w)
        else:
            whole = _join_pieces(hi, hi_w, lo, lo_w)
            if whole is not None:
                return whole
            key = (CONCAT, hi.id, lo.id)
    n = NODES.get(key)
    if n is not None:
        return n
    return make(key, CONCAT, hi_w + lo_w, hi if hi.__class__ is Expr else int(hi), lo)


def _join_pieces(hi: Expr, hi_w: int, lo: Expr, lo_w: int) -> Value | None:
    """The concatenation of two nodes if both are pieces of one value."""
    if hi.op == EXTRACT:
        whole, base = hi.a, hi.c - lo_w
        if base >= 0 and lo is extract(whole, base, lo_w):
            return extract(whole, base, hi_w + lo_w)
        if lo.op == CONCAT and lo.a.__class__ is Expr:
            w = lo.a.w
            if hi.c >= w and lo.a is extract(whole, hi.c - w, w):
                return concat(extract(whole, hi.c - w, hi_w + w), hi_w + w, lo.b, lo_w - w)
    elif lo.op == EXTRACT:
        if lo.c + lo_w + hi_w <= lo.a.w and hi is extract(lo.a, lo.c + lo_w, hi_w):
            return extract(lo.a, lo.c, hi_w + lo_w)
    elif (
        hi.op == ITE
        and lo.op == ITE
        and hi.a is lo.a
        and all(k.__class__ is int for k in (hi.b, hi.c, lo.b, lo.c))
    ):
        return _const_ite(hi.a, hi.b << lo_w | lo.b, hi.c << lo_w | lo.c, hi_w + lo_w)
    return None


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
            return _const_ite(x.a, b & c, x.c & c, w)
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
            return _const_ite(x.a, b | c, x.c | c, w)
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
            return _const_ite(x.a, b ^ c, x.c ^ c, w)
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

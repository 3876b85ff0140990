"""Addition, subtraction, multiplication and shifts.

Sums keep their constant last and outermost (`base + offset`), so that addresses of one object normalise to
the same base. Shifts right by a constant are extractions, shifts left of narrow values concatenations.
"""

from __future__ import annotations

from . import bits
from .bits import and_, join_disjoint, low_zeros, xor_const
from .boolean import as_bool, bool_and, bool_xor, const_ite, not_
from .casts import EXTRACT_RULES, concat, extract, sext, zext
from .node import (
    ADD,
    ASHR,
    ITE,
    LSHR,
    MASK,
    MUL,
    SEXT,
    SHL,
    SUB,
    XOR,
    ZEXT,
    Expr,
    Value,
    binary,
    binary_const,
    const_binary,
)

# -- sums -------------------------------------------------------------------------------------------------


def add_const(x: Expr, c: int) -> Value:
    """x + c."""
    w = x.w
    c &= MASK[w]
    if c == 0:
        return x
    op = x.op
    if op == ADD:
        if x.b.__class__ is int:
            c = (x.b + c) & MASK[w]
            x = x.a
            if c == 0:
                return x
    elif op == SUB:
        if x.a.__class__ is int:
            return const_sub((x.a + c) & MASK[w], x.b)
    elif op == XOR:
        if x.b.__class__ is int and x.b == MASK[w]:  # ~y + c = (c - 1) - y
            return const_sub((c - 1) & MASK[w], x.a)
    elif op == ITE and x.b.__class__ is int and x.c.__class__ is int:
        return const_ite(x.a, (x.b + c) & MASK[w], (x.c + c) & MASK[w], w)
    return binary_const(ADD, w, x, c)


def same_choice(x: Expr, y: Expr) -> bool:
    """Do two choices choose constants by the same condition?"""
    return x.a is y.a and all(k.__class__ is int for k in (x.b, x.c, y.b, y.c))


def _add_nodes(x: Expr, y: Expr) -> Value:
    w = x.w
    if x is y:
        return shl_const(x, 1)
    if x.op == ADD and x.b.__class__ is int:
        return add(add(x.a, y, w), x.b, w)
    if y.op == ADD and y.b.__class__ is int:
        return add(add(x, y.a, w), y.b, w)
    for p, q in ((x, y), (y, x)):
        if q.op == SUB:
            if q.b is p:
                return q.a
            if q.a.__class__ is int:
                return add(sub(p, q.b, w), q.a, w)
    if x.op == ITE and y.op == ITE and same_choice(x, y):
        return const_ite(x.a, (x.b + y.b) & MASK[w], (x.c + y.c) & MASK[w], w)
    if (x.op == ZEXT and low_zeros(y)) or (y.op == ZEXT and low_zeros(x)):
        r = join_disjoint(x, y)
        if r is not None:
            return r
    return binary(ADD, w, x, y) if x.id < y.id else binary(ADD, w, y, x)


def add(x: Value, y: Value, w: int) -> Value:
    """x + y modulo 2**w."""
    if w == 1:
        return bool_xor(as_bool(x), as_bool(y))
    if x.__class__ is Expr:
        return _add_nodes(x, y) if y.__class__ is Expr else add_const(x, y)
    return add_const(y, x) if y.__class__ is Expr else (x + y) & MASK[w]


def const_sub(c: int, x: Expr) -> Value:
    """c - x."""
    w = x.w
    c &= MASK[w]
    if c == MASK[w]:
        return xor_const(x, c)
    op = x.op
    if op == ADD:
        if x.b.__class__ is int:
            return const_sub(c - x.b, x.a)
    elif op == SUB:
        if x.a.__class__ is int:
            return add(x.b, c - x.a, w)
        if c == 0:
            return _sub_nodes(x.b, x.a)
    elif op == XOR:
        if x.b.__class__ is int and x.b == MASK[w]:
            return add_const(x.a, c + 1)
    elif op == ITE and x.b.__class__ is int and x.c.__class__ is int:
        return const_ite(x.a, (c - x.b) & MASK[w], (c - x.c) & MASK[w], w)
    return const_binary(SUB, w, c, x)


def _sub_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return 0
    w = x.w
    if y.op == ADD:
        if y.b.__class__ is int:
            return add(sub(x, y.a, w), -y.b, w)
        if y.a is x:
            return const_sub(0, y.b)
        if y.b is x:
            return const_sub(0, y.a)
    if x.op == ADD:
        if x.b.__class__ is int:
            return add(sub(x.a, y, w), x.b, w)
        if x.a is y:
            return x.b
        if x.b is y:
            return x.a
    if x.op == ITE and y.op == ITE and same_choice(x, y):
        return const_ite(x.a, (x.b - y.b) & MASK[w], (x.c - y.c) & MASK[w], w)
    if y.op == SUB:
        if y.a.__class__ is int:
            return add(add(x, y.b, w), -y.a, w)
        if y.a is x:
            return y.b
    if x.op == SUB:
        if x.a is y:
            return const_sub(0, x.b)
        if x.a.__class__ is int:
            return const_sub_value(x.a, add(x.b, y, w), w)
    return binary(SUB, w, x, y)


def const_sub_value(c: int, x: Value, w: int) -> Value:
    """c - x where x may be constant."""
    return const_sub(c, x) if x.__class__ is Expr else (c - x) & MASK[w]


def sub(x: Value, y: Value, w: int) -> Value:
    """x - y modulo 2**w."""
    if w == 1:
        return bool_xor(as_bool(x), as_bool(y))
    if x.__class__ is Expr:
        return _sub_nodes(x, y) if y.__class__ is Expr else add_const(x, -y)
    return const_sub(x, y) if y.__class__ is Expr else (x - y) & MASK[w]


def neg(x: Value, w: int) -> Value:
    """-x modulo 2**w."""
    return sub(0, x, w)


def _negate_sum(x: Expr, w: int) -> Value:
    return const_sub(MASK[w] - x.b, x.a)


bits.NEGATE_SUM = _negate_sum

# -- products ---------------------------------------------------------------------------------------------


def mul_const(x: Expr, c: int) -> Value:
    """x * c."""
    w = x.w
    c &= MASK[w]
    if c == 0:
        return 0
    if c == 1:
        return x
    if c & (c - 1) == 0:
        return shl_const(x, c.bit_length() - 1)
    if c == MASK[w]:
        return const_sub(0, x)
    op = x.op
    if x.b.__class__ is int:
        if op == MUL:
            return mul(x.a, x.b * c, w)
        if op == ADD:
            return add(mul(x.a, c, w), x.b * c, w)
        if op == SHL:
            return mul(x.a, c << x.b, w)
        if op == ITE and x.c.__class__ is int:
            return const_ite(x.a, x.b * c & MASK[w], x.c * c & MASK[w], w)
    return binary_const(MUL, w, x, c)


def mul(x: Value, y: Value, w: int) -> Value:
    """x * y modulo 2**w."""
    if w == 1:
        return bool_and(as_bool(x), as_bool(y))
    if x.__class__ is Expr:
        if y.__class__ is Expr:
            return binary(MUL, w, x, y) if x.id < y.id else binary(MUL, w, y, x)
        return mul_const(x, y)
    return mul_const(y, x) if y.__class__ is Expr else x * y & MASK[w]


# -- shifts -----------------------------------------------------------------------------------------------


def shl_const(x: Expr, k: int) -> Value:
    """x << k."""
    w = x.w
    if k >= w:
        return 0
    if k == 0:
        return x
    op = x.op
    if op == ZEXT:
        n = min(x.a.w, w - k)
        return zext(concat(extract(x.a, 0, n), n, 0, k), n + k, w)
    if x.b.__class__ is int:
        if op == SHL:
            return shl_const(x.a, x.b + k)
        if op == ADD:
            return add(shl(x.a, k, w), x.b << k, w)
        if op == MUL:
            return mul(x.a, x.b << k, w)
        if op == ITE and x.c.__class__ is int:
            return const_ite(x.a, x.b << k & MASK[w], x.c << k & MASK[w], w)
    return binary_const(SHL, w, x, k)


def shl(x: Value, y: Value, w: int) -> Value:
    """x << y; zero if y >= w."""
    if w == 1:
        return bool_and(as_bool(x), not_(as_bool(y)))
    if y.__class__ is Expr:
        if x.__class__ is Expr:
            return binary(SHL, w, x, y)
        return const_binary(SHL, w, x, y) if x else 0
    if x.__class__ is Expr:
        return shl_const(x, y)
    return x << y & MASK[w] if y < w else 0


def lshr(x: Value, y: Value, w: int) -> Value:
    """x >> y with zeros; zero if y >= w."""
    if w == 1:
        return bool_and(as_bool(x), not_(as_bool(y)))
    if y.__class__ is Expr:
        if x.__class__ is Expr:
            return binary(LSHR, w, x, y)
        return const_binary(LSHR, w, x, y) if x else 0
    if x.__class__ is Expr:
        if y >= w:
            return 0
        return zext(extract(x, y, w - y), w - y, w)
    return x >> y if y < w else 0


def ashr(x: Value, y: Value, w: int) -> Value:
    """x >> y with copies of the sign; all sign if y >= w."""
    if w == 1:
        return as_bool(x)
    if y.__class__ is Expr:
        if x.__class__ is Expr:
            return binary(ASHR, w, x, y)
        return const_binary(ASHR, w, x, y) if x != 0 and x != MASK[w] else x
    if y >= w:
        y = w - 1
    if x.__class__ is Expr:
        return sext(extract(x, y, w - y), w - y, w)
    return (x - ((x >> (w - 1)) << w)) >> y & MASK[w]


# -- truncated sums and products --------------------------------------------------------------------------


def _cheap(x: Value, w: int) -> bool:
    """Whether cutting x to w bits only takes an extension away."""
    return x.__class__ is not Expr or (x.op in (ZEXT, SEXT) and x.a.w <= w)


def _extract_sum(x: Expr, lo: int, w: int) -> Value | None:
    if lo == 0 and _cheap(x.a, w) and _cheap(x.b, w):
        p, q = extract(x.a, 0, w), extract(x.b, 0, w)
        return {ADD: add, SUB: sub, MUL: mul}[x.op](p, q, w)
    return None


def _extract_shl(x: Expr, lo: int, w: int) -> Value | None:
    k = x.b
    if k.__class__ is not int:
        return None
    if lo >= k:
        return extract(x.a, lo - k, w)
    if lo + w <= k:
        return False if w == 1 else 0
    n = k - lo
    return concat(extract(x.a, 0, w - n), w - n, 0, n)


EXTRACT_RULES.update({ADD: _extract_sum, SUB: _extract_sum, MUL: _extract_sum, SHL: _extract_shl})


def is_power_of_two(c: int) -> bool:
    """Whether exactly one bit is set."""
    return c != 0 and c & (c - 1) == 0


def low_mask(x: Value, k: int, w: int) -> Value:
    """x modulo 2**k."""
    return and_(x, MASK[k], w)

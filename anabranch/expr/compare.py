"""Equality and order.

Canonical forms: constants on the right; `a <= b` is `not (b < a)`, `x <= c` is `x < c+1`; eq, ult and slt
are the only nodes. Comparisons move below extensions, choices between constants and invertible operations.
"""

from __future__ import annotations

from collections.abc import Callable

from .arith import is_power_of_two, sub
from .bits import and_const, bit, bit_zero, maybe_ones
from .boolean import as_bool, bool_and, bool_or, bool_xor, negation, not_
from .casts import extract, sext, zext
from .node import (
    ADD,
    AND,
    CONCAT,
    EQ,
    EXTENSIONS,
    ITE,
    MASK,
    MUL,
    OR,
    SEXT,
    SHL,
    SLT,
    SUB,
    UDIV,
    ULT,
    UREM,
    XOR,
    ZEXT,
    Expr,
    Value,
    binary,
    binary_const,
)
from .variables import expr_vars

Rule = Callable[[Expr, int], "Value | None"]
CHOICES_LIMIT = 256  # longest chain of choices a comparison is moved into

# -- equality with a constant -----------------------------------------------------------------------------


def eq_const(x: Expr, c: int) -> Value:
    """x == c."""
    w = x.w
    if w == 1:
        return x if c else negation(x)
    rule = EQ_RULES.get(x.op)
    if rule is not None:
        r = rule(x, c)
        if r is not None:
            return r
    return binary_const(EQ, 1, x, c)


def _eq_zext(x: Expr, c: int) -> Value | None:
    return eq_const(x.a, c) if c <= MASK[x.a.w] else False


def _eq_sext(x: Expr, c: int) -> Value | None:
    n = x.a.w
    low = c & MASK[n]
    return eq_const(x.a, low) if sext(low, n, x.w) == c else False


def _eq_add(x: Expr, c: int) -> Value | None:
    if x.b.__class__ is int:
        return eq_const(x.a, (c - x.b) & MASK[x.w])
    return None


def _eq_sub(x: Expr, c: int) -> Value | None:
    if x.a.__class__ is int:
        return eq_const(x.b, (x.a - c) & MASK[x.w])
    return eq(x.a, x.b, x.w) if c == 0 else None


def _eq_xor(x: Expr, c: int) -> Value | None:
    if x.b.__class__ is int:
        return eq_const(x.a, x.b ^ c)
    return eq(x.a, x.b, x.w) if c == 0 else None


def _eq_mul(x: Expr, c: int) -> Value | None:
    k, w = x.b, x.w
    if k.__class__ is not int:
        return None
    twos = (k & -k).bit_length() - 1
    if c & MASK[twos]:
        return False
    inverse = pow(k >> twos, -1, 1 << w)
    if twos == 0:
        return eq_const(x.a, c * inverse & MASK[w])
    n = w - twos  # k * y = c modulo 2**w iff (k / 2**t) * y = c / 2**t modulo 2**(w-t)
    return eq(extract(x.a, 0, n), (c >> twos) * inverse & MASK[n], n)


def _eq_shl(x: Expr, c: int) -> Value | None:
    k = x.b
    if k.__class__ is not int:
        return None
    if c & MASK[k]:
        return False
    return eq(extract(x.a, 0, x.w - k), c >> k, x.w - k)


def _eq_and(x: Expr, c: int) -> Value | None:
    m = x.b
    if m.__class__ is not int:
        return None
    if c & ~m:
        return False
    if is_power_of_two(m):
        i = m.bit_length() - 1
        return bit(x.a, i) if c else bit_zero(x.a, i)
    return None


def _eq_or(x: Expr, c: int) -> Value | None:
    m = x.b
    if m.__class__ is not int:
        return bool_and(eq_const(x.a, 0), eq_const(x.b, 0)) if c == 0 else None
    if m & ~c:
        return False
    return eq(and_const(x.a, MASK[x.w] ^ m), c ^ m, x.w)


def _eq_concat(x: Expr, c: int) -> Value | None:
    low_w = x.w - x.a.w if x.a.__class__ is Expr else x.b.w
    high = eq(x.a, c >> low_w, x.w - low_w)
    if high is False:
        return False
    return bool_and(high, eq(x.b, c & MASK[low_w], low_w))


def _eq_udiv(x: Expr, c: int) -> Value | None:
    """x / k == c iff c*k <= x < c*k + k."""
    k, w = x.b, x.w
    if k.__class__ is not int:
        return None
    low = c * k
    if low > MASK[w]:
        return False
    if low + k > MASK[w]:
        return not_(ult(x.a, low, w))
    return ult(sub(x.a, low, w), k, w)


def _eq_ite(x: Expr, c: int) -> Value | None:
    return _into_choices(x, c, eq)


EQ_RULES: dict[str, Rule] = {
    ZEXT: _eq_zext,
    SEXT: _eq_sext,
    ADD: _eq_add,
    SUB: _eq_sub,
    XOR: _eq_xor,
    MUL: _eq_mul,
    SHL: _eq_shl,
    AND: _eq_and,
    OR: _eq_or,
    CONCAT: _eq_concat,
    ITE: _eq_ite,
    UDIV: _eq_udiv,
}


def _into_choices(x: Expr, c: int, compare: Callable[[Value, Value, int], Value]) -> Value | None:
    """A comparison of a chain of choices with one constant branch each (a table lookup), moved inside.

    A branch whose own comparison is the condition, as in `a == b ? ... : a - b` compared with 0, counts too.
    """
    w = x.w
    spine: list[tuple[Expr, bool, bool]] = []  # condition, which branch is decided, its answer
    node: Value = x
    while node.__class__ is Expr and node.op == ITE:
        if len(spine) == CHOICES_LIMIT:
            return None
        if node.b.__class__ is int:
            spine.append((node.a, True, bool(compare(node.b, c, w))))
            node = node.c
        elif node.c.__class__ is int:
            spine.append((node.a, False, bool(compare(node.c, c, w))))
            node = node.b
        else:
            known = _decided_branch(node, c) if compare is eq else None
            if known is None:
                break
            spine.append(known)
            node = node.c if known[1] else node.b
    if not spine:
        return None
    r = compare(node, c, w)
    for cond, when, answer in reversed(spine):
        guard = cond if when else negation(cond)
        r = bool_or(guard, r) if answer else bool_and(negation(guard), r)
    return r


# Comparisons of choices between values, by the operator that chooses.
CHOICES: dict[str, Callable[[Expr, int, Callable[[Value, Value, int], Value]], Value | None]] = {
    ITE: _into_choices
}


def _decided_branch(x: Expr, c: int) -> tuple[Expr, bool, bool] | None:
    """The condition of a choice, the branch (true: the first) that it decides to be c or not, and which."""
    for branch, when in ((x.c, False), (x.b, True)):
        # Looking into a branch takes long if it is a chain of choices: only if it can be about the same data.
        if branch.op in _DIFFERENCES and expr_vars(branch) == expr_vars(x.a):
            r = eq_const(branch, c)
            if r is x.a:
                return x.a, when, when
            if r is x.a.neg:
                return x.a, when, not when
    return None


_DIFFERENCES = frozenset((ADD, SUB, ZEXT))


# -- equality ---------------------------------------------------------------------------------------------


def _eq_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return True
    w = x.w
    if w == 1:
        return not_(bool_xor(x, y))
    p, q = x.op, y.op
    if p == q and p in EXTENSIONS:
        return _without_extensions(x, y, eq)
    if p == ADD:
        if x.b.__class__ is int:
            return eq(x.a, sub(y, x.b, w), w) if q == ADD else _ordered_eq(x, y)
        if x.a is y:
            return eq_const(x.b, 0)
        if x.b is y:
            return eq_const(x.a, 0)
    if q == ADD and y.b.__class__ is Expr:
        if y.a is x:
            return eq_const(y.b, 0)
        if y.b is x:
            return eq_const(y.a, 0)
    return _ordered_eq(x, y)


def _without_extensions(x: Expr, y: Expr, compare: Callable[[Value, Value, int], Value]) -> Value:
    """The comparison of two zero extensions, or of two sign extensions, by what they extend."""
    extend = zext if x.op == ZEXT else sext
    w = max(x.a.w, y.a.w)
    return compare(extend(x.a, x.a.w, w), extend(y.a, y.a.w, w), w)


def _ordered_eq(x: Expr, y: Expr) -> Expr:
    return binary(EQ, 1, x, y) if x.id < y.id else binary(EQ, 1, y, x)


def eq(x: Value, y: Value, w: int) -> Value:
    """x == y."""
    if x.__class__ is Expr:
        return _eq_nodes(x, y) if y.__class__ is Expr else eq_const(x, y)
    return eq_const(y, x) if y.__class__ is Expr else bool(x == y)


def ne(x: Value, y: Value, w: int) -> Value:
    """x != y."""
    return not_(eq(x, y, w))


# -- unsigned order ---------------------------------------------------------------------------------------


def ult_const(x: Expr, c: int) -> Value:
    """x < c, unsigned; c may be 2**w."""
    w = x.w
    if c <= 0:
        return False
    m = MASK[w]
    if c > m:
        return True
    if c == 1:
        return eq_const(x, 0)
    if c == m:
        return not_(eq_const(x, m))
    op = x.op
    if op == ZEXT:
        return ult_const(x.a, c)
    if op == XOR:
        s = 1 << (w - 1)
        if x.b.__class__ is int and x.b == s:
            return slt_const(x.a, c ^ s)
    elif op in CHOICES:
        r = CHOICES[op](x, c, ult)
        if r is not None:
            return r
    elif op == CONCAT:
        k = w - x.a.w if x.a.__class__ is Expr else x.b.w
        if c & MASK[k] == 0:
            return ult(x.a, c >> k, w - k)
        if (
            x.b.__class__ is not Expr
        ):  # high:k < c iff high < c's high part, one more if k is below its low part
            return ult(x.a, (c >> k) + (x.b < c & MASK[k]), w - k)
        if x.a.__class__ is not Expr:
            high = c >> k
            return ult_const(x.b, c & MASK[k]) if x.a == high else x.a < high
    elif op in (AND, UREM, SHL) and maybe_ones(x) < c:
        return True
    elif op == UDIV and x.b.__class__ is int:  # x / k < c iff x < c*k
        return ult(x.a, c * x.b, w)
    if c == 1 << (w - 1):
        return bit_zero(x, w - 1)
    return binary_const(ULT, 1, x, c)


def _ult_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return False
    w = x.w
    if w == 1:
        return bool_and(negation(x), y)
    p, q = x.op, y.op
    if p == q:
        if p in EXTENSIONS:
            return _without_extensions(x, y, ult)
        if p == XOR:
            s = 1 << (w - 1)
            if x.b.__class__ is int and y.b.__class__ is int and x.b == s and y.b == s:
                return _slt_nodes(x.a, y.a)
    return binary(ULT, 1, x, y)


def ult(x: Value, y: Value, w: int) -> Value:
    """x < y, unsigned."""
    if x.__class__ is Expr:
        return _ult_nodes(x, y) if y.__class__ is Expr else ult_const(x, int(y))
    return not_(ult_const(y, x + 1)) if y.__class__ is Expr else bool(x < y)


# -- signed order -----------------------------------------------------------------------------------------


def slt_const(x: Expr, c: int) -> Value:
    """x < c, signed; c is a bit pattern."""
    w = x.w
    s = 1 << (w - 1)
    if c == s:
        return False
    if w == 1:
        return x
    if c == 0:
        return bit(x, w - 1)
    if c == s - 1:
        return not_(eq_const(x, c))
    if c == s + 1:
        return eq_const(x, s)
    op = x.op
    if op == ZEXT:
        return False if c > s else ult_const(x.a, c)
    if op == SEXT:
        n = x.a.w
        t = 1 << (n - 1)
        signed = c - ((c >> (w - 1)) << w)
        if signed <= -t:
            return False
        return slt_const(x.a, c & MASK[n]) if signed < t else True
    if op == XOR:
        if x.b.__class__ is int and x.b == s:
            return ult_const(x.a, c ^ s)
    elif op in CHOICES:
        r = CHOICES[op](x, c, slt)
        if r is not None:
            return r
    return binary_const(SLT, 1, x, c)


def _slt_nodes(x: Expr, y: Expr) -> Value:
    if x is y:
        return False
    w = x.w
    if w == 1:
        return bool_and(x, negation(y))
    p, q = x.op, y.op
    if p in EXTENSIONS and q in EXTENSIONS:
        if p == q == ZEXT:
            return _ult_nodes(x, y)
        # one more bit keeps a zero extension positive
        n = max(x.a.w + (p == ZEXT), y.a.w + (q == ZEXT))
        if n < w:
            return slt(extract(x, 0, n), extract(y, 0, n), n)
    if p == XOR and q == XOR:
        s = 1 << (w - 1)
        if x.b.__class__ is int and y.b.__class__ is int and x.b == s and y.b == s:
            return _ult_nodes(x.a, y.a)
    return binary(SLT, 1, x, y)


def slt(x: Value, y: Value, w: int) -> Value:
    """x < y, signed."""
    if x.__class__ is Expr:
        return _slt_nodes(x, y) if y.__class__ is Expr else slt_const(x, int(y))
    s = 1 << (w - 1)
    if y.__class__ is Expr:
        if x == s - 1:
            return False
        return not_(slt_const(y, (x + 1) & MASK[w]))
    return bool((x ^ s) < (y ^ s))


def ule(x: Value, y: Value, w: int) -> Value:
    """x <= y, unsigned."""
    return not_(ult(y, x, w))


def ugt(x: Value, y: Value, w: int) -> Value:
    """x > y, unsigned."""
    return ult(y, x, w)


def uge(x: Value, y: Value, w: int) -> Value:
    """x >= y, unsigned."""
    return not_(ult(x, y, w))


def sle(x: Value, y: Value, w: int) -> Value:
    """x <= y, signed."""
    return not_(slt(y, x, w))


def sgt(x: Value, y: Value, w: int) -> Value:
    """x > y, signed."""
    return slt(y, x, w)


def sge(x: Value, y: Value, w: int) -> Value:
    """x >= y, signed."""
    return not_(slt(x, y, w))


def truth(x: Value, w: int) -> Value:
    """Whether x is not zero."""
    return as_bool(x) if w == 1 else ne(x, 0, w)

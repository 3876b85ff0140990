"""Width casts: extensions, extraction and concatenation."""

from __future__ import annotations

from collections.abc import Callable

from .boolean import const_ite, ite, not_
from .node import AND, CONCAT, EXTRACT, ITE, MASK, NODES, OR, SEXT, XOR, ZEXT, Expr, Value, make, unary

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
        return const_ite(x.a, x.b, x.c, w_to)
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
        return const_ite(x.a, p, sext(x.c, w_from, w_to), w_to)
    return unary(SEXT, w_to, x)


# -- extraction -------------------------------------------------------------------------------------------

KNOWN_DEPTH = 6  # operands that are looked through for known bits

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


def _known_bits(x: Value, lo: int, w: int, depth: int = 0) -> int | None:
    """Bits lo .. lo+w-1 of x if its shape alone tells them (fields side by side, masked, with constants)."""
    if x.__class__ is not Expr:
        return int(x >> lo & MASK[w])
    op = x.op
    if depth == KNOWN_DEPTH:
        return None
    if op == CONCAT:
        low_w = x.w - x.a.w if x.a.__class__ is Expr else x.b.w
        if lo >= low_w:
            return _known_bits(x.a, lo - low_w, w, depth + 1)
        return _known_bits(x.b, lo, w, depth + 1) if lo + w <= low_w else None
    if op == ZEXT:
        if lo >= x.a.w:
            return 0
        return _known_bits(x.a, lo, w, depth + 1) if lo + w <= x.a.w else None
    if op == EXTRACT:
        return _known_bits(x.a, lo + x.c, w, depth + 1)
    if op in (AND, OR, XOR):
        p = _known_bits(x.a, lo, w, depth + 1)
        q = _known_bits(x.b, lo, w, depth + 1)
        if op == AND and (p == 0 or q == 0):
            return 0
        if op == OR and (p == MASK[w] or q == MASK[w]):
            return MASK[w]
        if p is not None and q is not None:
            return p & q if op == AND else p | q if op == OR else p ^ q
    return None


def _constant(v: int, w: int) -> Value:
    return bool(v) if w == 1 else v


def _extract_and(x: Expr, lo: int, w: int) -> Value | None:
    known = _known_bits(x, lo, w)
    if known is not None:
        return _constant(known, w)
    if x.b.__class__ is int:
        c = x.b >> lo & MASK[w]
        if c == 0:
            return False if w == 1 else 0
        if c == MASK[w]:
            return extract(x.a, lo, w)
    return None


def _extract_or(x: Expr, lo: int, w: int) -> Value | None:
    known = _known_bits(x, lo, w)
    if known is not None:
        return _constant(known, w)
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
    """Are these bits of x plainly zero: masked, or above what was extended? (So are fields concatenated.)"""
    if x.op == AND:
        return x.b.__class__ is int and not x.b >> lo & MASK[w]
    return x.op == ZEXT and lo >= x.a.w


def _extract_xor(x: Expr, lo: int, w: int) -> Value | None:
    known = _known_bits(x, lo, w)
    if known is not None:
        return _constant(known, w)
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
        if op == SEXT and hi.a.w == 1 and hi.a is extract(lo, lo_w - 1, 1, lo_w):
            return sext(lo, lo_w, hi_w + lo_w)
        if lo.__class__ is not Expr:
            if op == ITE and hi.b.__class__ is int and hi.c.__class__ is int:
                return const_ite(hi.a, hi.b << lo_w | lo, hi.c << lo_w | lo, hi_w + lo_w)
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
    if lo.op == EXTRACT:
        if lo.c + lo_w + hi_w <= lo.a.w and hi is extract(lo.a, lo.c + lo_w, hi_w):
            return extract(lo.a, lo.c, hi_w + lo_w)
    elif (
        hi.op == ITE
        and lo.op == ITE
        and hi.a is lo.a
        and all(k.__class__ is int for k in (hi.b, hi.c, lo.b, lo.c))
    ):
        return const_ite(hi.a, hi.b << lo_w | lo.b, hi.c << lo_w | lo.c, hi_w + lo_w)
    return None

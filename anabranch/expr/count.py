"""Counting and rearranging bits, composed of simpler nodes."""

from __future__ import annotations

from operator import is_

from .arith import add
from .boolean import as_bool, ite
from .casts import concat, extract, zext
from .node import EXTRACT, MASK, Expr, Value


def ctpop(x: Value, w: int) -> Value:
    """How many bits are one."""
    if w == 1:
        return as_bool(x)
    if x.__class__ is not Expr:
        return x.bit_count()
    r: Value = 0
    for i in range(w):
        r = add(r, zext(extract(x, i, 1), 1, w), w)
    return r


def ctlz(x: Value, w: int) -> Value:
    """How many zeros stand above the highest one; w for zero."""
    if x.__class__ is not Expr:
        return fit(w - int(x).bit_length(), w)
    return _first_one(x, w, [(i, w - 1 - i) for i in range(w)])


def cttz(x: Value, w: int) -> Value:
    """How many zeros stand below the lowest one; w for zero."""
    if x.__class__ is not Expr:
        return fit((x & -x).bit_length() - 1 if x else w, w)
    return _first_one(x, w, [(i, i) for i in reversed(range(w))])


def _first_one(x: Expr, w: int, answers: list[tuple[int, int]]) -> Value:
    """The answer of the last listed bit that is one, else w."""
    r: Value = fit(w, w)
    for i, answer in answers:
        r = ite(extract(x, i, 1, w), fit(answer, w), r, w)
    return r


def fit(v: int, w: int) -> int:
    """A constant cut to width w; a bool for width 1."""
    return bool(v & 1) if w == 1 else v & MASK[w]


def bswap(x: Value, w: int) -> Value:
    """The bytes in reverse order."""
    if x.__class__ is not Expr:
        return int.from_bytes(int(x).to_bytes(w // 8, "little"), "big")
    return _reversed(x, w, 8)


def bitreverse(x: Value, w: int) -> Value:
    """The bits in reverse order."""
    if x.__class__ is not Expr:
        r = int(format(int(x), f"0{w}b")[::-1], 2)
        return bool(r) if w == 1 else r
    return _reversed(x, w, 1)


def _reversed(x: Expr, w: int, step: int) -> Value:
    r = extract(x, w - step, step)
    for k in range(step, w, step):
        r = concat(extract(x, w - k - step, step), step, r, k)
    return r


def to_bytes(x: Value, w: int) -> tuple[Value, ...]:
    """The bytes of x, low first; the last one is zero extended if the width is odd."""
    if x.__class__ is not Expr:
        return tuple(int(x).to_bytes((w + 7) // 8, "little"))
    parts = x.bytes
    if parts is None:
        if w % 8:
            whole = (w + 7) // 8 * 8
            parts = to_bytes(zext(x, w, whole), whole)
        else:
            parts = tuple(extract(x, k, 8) for k in range(0, w, 8))
        x.bytes = parts
    return parts


def from_bytes(parts: tuple[Value, ...] | list[Value]) -> Value:
    """The value whose bytes these are, low first."""
    r = parts[0]
    if r.__class__ is Expr and r.op == EXTRACT:
        whole = r.a
        if whole.w == 8 * len(parts) and whole.bytes is not None and all(map(is_, whole.bytes, parts)):
            return whole
    for k in range(1, len(parts)):
        r = concat(parts[k], 8, r, 8 * k)
    return r

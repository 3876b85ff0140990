"""Counting and rearranging bits, composed of simpler nodes."""

from __future__ import annotations

from collections.abc import Sequence

from .arith import add
from .boolean import as_bool, ite
from .casts import concat, extract, zext
from .node import EXTRACT, MASK, Expr, Value, instance_of, is_undefined, undefined


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


def join_bytes(data: Sequence[Value]) -> Value:
    """The little-endian value of some bytes, at least one of which may be an expression."""
    first = data[0]
    if first.__class__ is not int:
        width = 8 * len(data)
        if first.op == EXTRACT and first.c == 0 and first.a.w == width:
            whole = byte_parts(first.a)
            for mine, part in zip(data, whole, strict=True):
                if mine is not part:
                    break
            else:
                return first.a
        if is_undefined(first) and all(map(is_undefined, data)):
            return undefined(width, instance_of(first))
    value, bits = first, 8
    for byte in data[1:]:
        value = concat(byte, 8, value, bits)
        bits += 8
    return value


def byte_parts(value: Expr) -> tuple[Value, ...]:
    """The bytes of an expression, low first; kept on the node so that whole values stay recognisable."""
    parts = value.bytes
    if parts is None:
        width = value.w
        parts = value.bytes = tuple(extract(value, lo, 8, width) for lo in range(0, width, 8))
    return parts


def split_value(value: Value, size: int) -> Sequence[Value]:
    """`size` bytes of a value, low first."""
    if value.__class__ is Expr:
        if value.w == 8 * size:
            return (value,) if size == 1 else byte_parts(value)
        raise TypeError(f"a value of {value.w} bits does not fill {size} bytes")
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")

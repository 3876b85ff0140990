"""Concrete floating point on bit patterns, as x86 computes it.

Rounding is to nearest, ties to even. Widths 16, 32 and 64 are IEEE 754's, as SSE computes them: a NaN
operand is returned quieted, the first one of several; an invalid operation gives the default NaN, whose sign
bit is set. Width 80 is that of x87 (`x87.py`).
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import NamedTuple

from . import x87
from .node import MASK


class Format(NamedTuple):
    """The layout of one width."""

    width: int
    exponent_bits: int
    fraction_bits: int
    bias: int
    infinity: int  # all exponent bits
    sign: int
    quiet: int  # the highest fraction bit
    default_nan: int
    code: str  # of the struct module; empty for x87


def _format(width: int, exponent_bits: int, code: str) -> Format:
    fraction = width - 1 - exponent_bits
    infinity = MASK[exponent_bits] << fraction
    sign = 1 << (width - 1)
    quiet = 1 << (fraction - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    return Format(width, exponent_bits, fraction, bias, infinity, sign, quiet, sign | infinity | quiet, code)


FORMATS = {
    16: _format(16, 5, "e"),
    32: _format(32, 8, "f"),
    64: _format(64, 11, "d"),
    x87.WIDTH: Format(
        x87.WIDTH, 15, x87.FRACTION_BITS, x87.BIAS, x87.INFINITY, x87.SIGN, x87.QUIET, x87.DEFAULT_NAN, ""
    ),
}
_PACKERS = {
    w: (struct.Struct("<" + f.code), struct.Struct("<" + {16: "H", 32: "I", 64: "Q"}[w]))
    for w, f in FORMATS.items()
    if f.code
}


def is_nan(x: int, w: int) -> bool:
    """Whether the pattern is a NaN."""
    if w == x87.WIDTH:
        return x87.is_nan(x)
    return x & (FORMATS[w].sign - 1) > FORMATS[w].infinity


def to_float(x: int, w: int) -> float:
    """The Python float of a pattern that is no signalling NaN."""
    floats, ints = _PACKERS[w]
    value: float = floats.unpack(ints.pack(x))[0]
    return value


def from_float(value: float, w: int) -> int:
    """The pattern nearest to a Python float; NaN becomes the default NaN."""
    f = FORMATS[w]
    if value != value:
        return f.default_nan
    floats, ints = _PACKERS[w]
    try:
        pattern: int = ints.unpack(floats.pack(value))[0]
    except OverflowError:
        pattern = f.infinity | (f.sign if value < 0 else 0)
    return pattern


def parts(x: int, w: int) -> tuple[int, int, int]:
    """Sign, magnitude m and exponent e of a finite pattern: its value is (-1)**sign * m * 2**e."""
    if w == x87.WIDTH:
        return x87.parts(x)
    f = FORMATS[w]
    fraction = x & MASK[f.fraction_bits]
    exponent = x >> f.fraction_bits & MASK[f.exponent_bits]
    if exponent == 0:
        return x >> (w - 1), fraction, 1 - f.bias - f.fraction_bits
    return x >> (w - 1), fraction | 1 << f.fraction_bits, exponent - f.bias - f.fraction_bits


def round_exact(sign: int, m: int, e: int, w: int) -> int:
    """The pattern nearest to (-1)**sign * m * 2**e for an integer m >= 0."""
    if w == x87.WIDTH:
        return x87.round_exact(sign, m, e)
    f = FORMATS[w]
    top = f.sign if sign else 0
    if m == 0:
        return top
    lowest = 1 - f.bias - f.fraction_bits  # exponent of the last place of subnormal numbers
    last = max(e + m.bit_length() - 1 - f.fraction_bits, lowest)
    shift = last - e
    if shift <= 0:
        n = m << -shift
    else:
        n, rest = m >> shift, m & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        if rest > half or (rest == half and n & 1):
            n += 1
    # n < 2**fraction_bits only if last is the lowest exponent, which is encoded like the one above it
    pattern = n + ((last - lowest) << f.fraction_bits)
    return top | min(pattern, f.infinity)


def _nan_of(w: int, *operands: int) -> int | None:
    """The NaN that an operation returns because of a NaN operand."""
    if w == x87.WIDTH:
        return x87.nan_of(*operands)
    for x in operands:
        if is_nan(x, w):
            return x | FORMATS[w].quiet
    return None


def _arithmetic(
    f: Callable[[float, float], float], extended: Callable[[int, int], int]
) -> Callable[[int, int, int], int]:
    def operation(x: int, y: int, w: int) -> int:
        if w == 80:
            return extended(x, y)
        nan = _nan_of(w, x, y)
        if nan is not None:
            return nan
        # one rounding to double and one to the width give the right result: 53 >= 2 * 24 + 2
        return from_float(f(to_float(x, w), to_float(y, w)), w)

    return operation


def _divide(x: float, y: float) -> float:
    if y == 0:
        if x == 0 or x != x:
            return math.nan
        return math.copysign(math.inf, math.copysign(1, x) * math.copysign(1, y))
    return x / y


def _remainder(x: float, y: float) -> float:
    return math.nan if y == 0 or math.isinf(x) else math.fmod(x, y)


fadd = _arithmetic(operator.add, x87.fadd)
fsub = _arithmetic(operator.sub, x87.fsub)
fmul = _arithmetic(operator.mul, x87.fmul)
fdiv = _arithmetic(_divide, x87.fdiv)
frem = _arithmetic(_remainder, x87.frem)


def fsqrt(x: int, w: int) -> int:
    """Square root."""
    if w == x87.WIDTH:
        return x87.fsqrt(x)
    nan = _nan_of(w, x)
    if nan is not None:
        return nan
    v = to_float(x, w)
    return FORMATS[w].default_nan if v < 0 else from_float(math.sqrt(v), w)


def ffma(x: int, y: int, z: int, w: int) -> int:
    """x * y + z with one rounding."""
    f = FORMATS[w]
    nan = _nan_of(w, x, y, z)
    if nan is not None:
        return nan
    magnitude = f.sign - 1
    p, q, r = x & magnitude, y & magnitude, z & magnitude
    sign = (x ^ y) >> (w - 1)
    if f.infinity in (p, q):
        if p == 0 or q == 0 or (r == f.infinity and z >> (w - 1) != sign):
            return f.default_nan
        return f.infinity | sign << (w - 1)
    if r == f.infinity:
        return z
    (_, m, e), (_, n, k), (s, o, j) = parts(x, w), parts(y, w), parts(z, w)
    product, exponent = m * n, e + k
    low = min(exponent, j)
    a, b = product << (exponent - low), o << (j - low)
    total = (-a if sign else a) + (-b if s else b)
    if total == 0:
        return f.sign if sign and s else 0
    return round_exact(total < 0, abs(total), low, w)


# How a magnitude m / 2**k is rounded to an integer: (m, k, sign) -> integer.
ROUNDINGS: dict[str, Callable[[int, int, int], int]] = {
    "rtz": lambda m, k, s: m >> k,
    "rtp": lambda m, k, s: m >> k if s else -(-m >> k),
    "rtn": lambda m, k, s: -(-m >> k) if s else m >> k,
    "rna": lambda m, k, s: (m + (1 << (k - 1))) >> k,
    "rne": lambda m, k, s: (m + (1 << (k - 1)) - 1 + (m >> k & 1)) >> k,
}


def fround(x: int, mode: str, w: int) -> int:
    """x rounded to an integral value: rtz, rtp (up), rtn (down), rne, rna (ties away)."""
    if w == x87.WIDTH:
        return x87.fround(x, ROUNDINGS[mode])
    nan = _nan_of(w, x)
    if nan is not None:
        return nan
    if x & (FORMATS[w].sign - 1) == FORMATS[w].infinity:
        return x
    sign, m, e = parts(x, w)
    return x if e >= 0 else round_exact(sign, ROUNDINGS[mode](m, -e, sign), 0, w)


def _value(x: int, w: int) -> float:
    """A number to compare a pattern by that is no NaN."""
    return x87.order(x) if w == x87.WIDTH else to_float(x, w)


def feq(x: int, y: int, w: int) -> bool:
    """Ordered and equal."""
    return not is_nan(x, w) and not is_nan(y, w) and _value(x, w) == _value(y, w)


def flt(x: int, y: int, w: int) -> bool:
    """Ordered and less."""
    return not is_nan(x, w) and not is_nan(y, w) and _value(x, w) < _value(y, w)


def fle(x: int, y: int, w: int) -> bool:
    """Ordered and less or equal."""
    return not is_nan(x, w) and not is_nan(y, w) and _value(x, w) <= _value(y, w)


def fp_convert(x: int, w_from: int, w_to: int) -> int:
    """The value in another width."""
    f, g = FORMATS[w_from], FORMATS[w_to]
    top = g.sign if x & f.sign else 0
    magnitude = x & (f.sign - 1)
    if w_from == x87.WIDTH and not x87.is_supported(x):
        return g.default_nan
    if magnitude >= f.infinity:
        payload = magnitude & MASK[f.fraction_bits]
        if payload == 0:
            return top | g.infinity
        k = g.fraction_bits - f.fraction_bits
        return top | g.infinity | g.quiet | (payload << k if k >= 0 else payload >> -k)
    return round_exact(*parts(x, w_from), w_to)


def si_to_fp(x: int, w_int: int, w: int) -> int:
    """The value nearest to a signed integer."""
    negative = x >> (w_int - 1)
    return round_exact(negative, (1 << w_int) - x if negative else x, 0, w)


def fp_to_si(x: int, w: int, w_int: int) -> int:
    """The signed integer, cut towards zero; out of range and NaN give the least one."""
    least = 1 << (w_int - 1)
    f = FORMATS[w]
    if x & (f.sign - 1) >= f.infinity or (w == x87.WIDTH and not x87.is_supported(x)):
        return least
    sign, m, e = parts(x, w)
    n = m << e if e >= 0 else m >> -e
    if sign:
        return -n & MASK[w_int] if n <= least else least
    return n if n < least else least

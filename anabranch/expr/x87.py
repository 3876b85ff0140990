"""Concrete arithmetic of the 80-bit numbers of x87 on their images in memory.

An image is the sign, 15 bits of exponent, the integer bit that other formats leave out, and 63 bits of
fraction. Rounding is to nearest, ties to even, with the full precision of 64 bits. The processor knows no
number for images whose integer bit is clear although the exponent is not zero ("unsupported": unnormals,
pseudo-infinities and pseudo-NaNs): they are invalid operands and give the default NaN. An integer bit that is
set although the exponent is zero (a pseudo-denormal) counts as exponent one. Of two NaNs the one with the
larger significand is returned, quieted; of equal ones the positive one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

WIDTH = 80
BIAS = 16383
FRACTION_BITS = 63
EXPONENT = 0x7FFF
INTEGER = 1 << 63
SIGNIFICAND = (1 << 64) - 1
SIGN = 1 << 79
MAGNITUDE = SIGN - 1
INFINITY = EXPONENT << 64 | INTEGER
QUIET = 1 << 62
DEFAULT_NAN = SIGN | INFINITY | QUIET
_FAR = 130  # of two summands so far apart, the smaller one only decides how the sum is rounded


def is_supported(x: int) -> bool:
    """Whether the processor takes the image for a number, an infinity or a NaN."""
    return x & INTEGER != 0 or not x >> 64 & EXPONENT


def is_nan(x: int) -> bool:
    """Whether an operation treats the image as a NaN: unsupported images too."""
    return x & MAGNITUDE > INFINITY or not is_supported(x)


def parts(x: int) -> tuple[int, int, int]:
    """Sign, magnitude m and exponent e of a finite image: its value is (-1)**sign * m * 2**e."""
    return x >> 79, x & SIGNIFICAND, (x >> 64 & EXPONENT or 1) - BIAS - FRACTION_BITS


def round_exact(sign: int, m: int, e: int) -> int:
    """The image nearest to (-1)**sign * m * 2**e for an integer m >= 0."""
    return _rounded(SIGN if sign else 0, m, e + BIAS + FRACTION_BITS)


def _rounded(sign: int, m: int, e: int) -> int:
    """The image nearest to m * 2**(e - BIAS - 63), with the sign bit given."""
    shift = m.bit_length() - 64
    if e + shift < 1:
        shift = 1 - e  # subnormal
    if shift <= 0:
        n = m << -shift
    else:
        n, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
        if rest >= half and (rest > half or n & 1):
            n += 1
            if n > SIGNIFICAND:
                n >>= 1
                shift += 1
    if n < INTEGER:
        return sign | n
    e += shift
    return sign | e << 64 | n if e < EXPONENT else sign | INFINITY


def nan_of(*operands: int) -> int | None:
    """The NaN that an operation returns because of its operands."""
    chosen = None
    for x in operands:
        if not is_supported(x):
            return DEFAULT_NAN
        if x & MAGNITUDE > INFINITY and (
            chosen is None or (x & SIGNIFICAND, ~x & SIGN) > (chosen & SIGNIFICAND, ~chosen & SIGN)
        ):
            chosen = x
    return None if chosen is None else chosen | QUIET


def fadd(x: int, y: int) -> int:
    """Sum."""
    p, q = x >> 64 & EXPONENT, y >> 64 & EXPONENT
    m, n = x & SIGNIFICAND, y & SIGNIFICAND
    # The one comparison leaves zeros, subnormal numbers and whatever is no finite number to the other branch.
    if m < INTEGER or n < INTEGER or p == EXPONENT or q == EXPONENT:
        if p == EXPONENT or q == EXPONENT or not (is_supported(x) and is_supported(y)):
            return _add_special(x, y)
        if not m and not n:
            return x & y & SIGN
    p, q = p or 1, q or 1
    if p - q > _FAR:
        p, q, m, n = 68, 0, m << 68, int(n != 0)
        e = (x >> 64 & EXPONENT) - 68
    elif q - p > _FAR:
        p, q, m, n = 0, 68, int(m != 0), n << 68
        e = (y >> 64 & EXPONENT) - 68
    elif p >= q:
        m <<= p - q
        e = q
    else:
        n <<= q - p
        e = p
    if not (x ^ y) & SIGN:
        return _rounded(x & SIGN, m + n, e)
    total = m - n
    if total > 0:
        return _rounded(x & SIGN, total, e)
    return _rounded(y & SIGN, -total, e) if total else 0


def _add_special(x: int, y: int) -> int:
    nan = nan_of(x, y)
    if nan is not None:
        return nan
    if x & MAGNITUDE == INFINITY:
        return DEFAULT_NAN if x ^ y == SIGN else x
    return y


def fsub(x: int, y: int) -> int:
    """Difference."""
    if y & MAGNITUDE > INFINITY:  # a NaN keeps its sign
        return _add_special(x, y)
    return fadd(x, y ^ SIGN)


def fmul(x: int, y: int) -> int:
    """Product."""
    p, q = x >> 64 & EXPONENT, y >> 64 & EXPONENT
    m, n = x & SIGNIFICAND, y & SIGNIFICAND
    sign = (x ^ y) & SIGN
    if p == EXPONENT or q == EXPONENT or (p and m < INTEGER) or (q and n < INTEGER):
        nan = nan_of(x, y)
        if nan is not None:
            return nan
        return sign | INFINITY if x & MAGNITUDE and y & MAGNITUDE else DEFAULT_NAN
    return _rounded(sign, m * n, (p or 1) + (q or 1) - BIAS - FRACTION_BITS)


def fdiv(x: int, y: int) -> int:
    """Quotient."""
    p, q = x >> 64 & EXPONENT, y >> 64 & EXPONENT
    m, n = x & SIGNIFICAND, y & SIGNIFICAND
    sign = (x ^ y) & SIGN
    if p == EXPONENT or q == EXPONENT or (p and m < INTEGER) or (q and n < INTEGER):
        nan = nan_of(x, y)
        if nan is not None:
            return nan
        if p == q:
            return DEFAULT_NAN
        return sign | INFINITY if p == EXPONENT else sign
    if not n:
        return sign | INFINITY if m else DEFAULT_NAN
    if not m:
        return sign
    k = 66 + max(0, n.bit_length() - m.bit_length())
    quotient, rest = divmod(m << k, n)
    exponent = (p or 1) - (q or 1) - k - 1 + BIAS + FRACTION_BITS
    return _rounded(sign, quotient << 1 | (rest != 0), exponent)


def frem(x: int, y: int) -> int:
    """C's fmod: what is left of x after its quotient by y, cut to an integer; exact."""
    nan = nan_of(x, y)
    if nan is not None:
        return nan
    if x & MAGNITUDE == INFINITY or not y & MAGNITUDE:
        return DEFAULT_NAN
    p, q = x >> 64 & EXPONENT or 1, y >> 64 & EXPONENT or 1
    m, n = x & SIGNIFICAND, y & SIGNIFICAND
    if q - p > 64 or q == EXPONENT:
        return _rounded(x & SIGN, m, p)
    if p >= q:
        return _rounded(x & SIGN, m * pow(2, p - q, n) % n, q)
    return _rounded(x & SIGN, m % (n << (q - p)), p)


def fsqrt(x: int) -> int:
    """Square root."""
    nan = nan_of(x)
    if nan is not None:
        return nan
    magnitude = x & MAGNITUDE
    if not magnitude:
        return x
    if x & SIGN:
        return DEFAULT_NAN
    if magnitude == INFINITY:
        return x
    _, m, e = parts(x)
    k = 136 - m.bit_length()
    k += (e - k) & 1
    root = isqrt(m << k)
    return round_exact(0, root << 1 | (root * root != m << k), (e - k) // 2 - 1)


def fround(x: int, rounding: Callable[[int, int, int], int]) -> int:
    """x as an integral number; `rounding` is one of `fpvalue.ROUNDINGS`."""
    nan = nan_of(x)
    if nan is not None:
        return nan
    sign, m, e = parts(x)
    return x if e >= 0 else round_exact(sign, rounding(m, -e, sign), 0)


def order(x: int) -> int:
    """A number by which images that are no NaNs compare as their values do."""
    magnitude = x & MAGNITUDE
    if not magnitude:
        return 0
    if magnitude < 1 << 64:
        magnitude |= 1 << 64  # subnormal numbers and pseudo-denormals have the exponent one
    return -magnitude if x & SIGN else magnitude

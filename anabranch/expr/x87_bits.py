"""80-bit numbers of x87 as bit-vector expressions, for the solvers.

Bitwuzla has no format of 15 bits of exponent and 64 of precision, and no solver knows what the processor
makes of the integer bit and of NaNs. So a node over such numbers is rewritten (`lower`) to shifts, sums,
products and divisions of integers just before it goes to a solver; everything else keeps the small node.

In between, a number is a sign (a Boolean), an exponent (signed, `E` bits) and a significand of k bits; its
value is significand * 2**(exponent - BIAS - (k - 1)).
"""

from __future__ import annotations

from collections.abc import Callable

from .arith import add, lshr, mul, shl, sub
from .bits import or_
from .boolean import bool_and, bool_or, bool_xor, ite, not_
from .casts import concat, extract, sext, trunc, zext
from .compare import eq, ne, sgt, slt, uge, ugt
from .division import udiv, urem
from .fp import RESULTS, ROUND, fneg, is_infinite, is_nan, is_supported, sign_bit
from .fpvalue import FORMATS
from .node import Expr, Value, operand_width
from .x87 import BIAS, DEFAULT_NAN, EXPONENT, FRACTION_BITS, INFINITY, QUIET, WIDTH

E = 18  # bits of an exponent in between: sums and differences of exponents fit
_SIGNIFICAND = FRACTION_BITS + 1
Number = tuple[Value, Value, Value]  # sign, exponent, significand


def lower(n: Expr) -> Value | None:
    """The bit-vector expression of a node over 80-bit numbers; None if it is over others."""
    if (n.op in RESULTS and n.w == WIDTH) or (
        n.op in ("feq", "flt", "fle", "fp_convert", "fp_to_si") and operand_width(n) == WIDTH
    ):
        return LOWER[n.op](n)
    return None


# -- numbers ----------------------------------------------------------------------------------------------


def _unpack(x: Value) -> Number:
    exponent = extract(x, 64, 15, WIDTH)
    exponent = ite(eq(exponent, 0, 15), 1, exponent, 15)
    return sign_bit(x, WIDTH), zext(exponent, 15, E), extract(x, 0, _SIGNIFICAND, WIDTH)


def _is_zero(x: Value) -> Value:
    return eq(extract(x, 0, WIDTH - 1, WIDTH), 0, WIDTH - 1)


def _signed(sign: Value, magnitude: Value, w: int = WIDTH) -> Value:
    return concat(sign, 1, magnitude, w - 1)


def _normalised(exponent: Value, m: Value, k: int) -> tuple[Value, Value]:
    """The same number with its top bit set; what comes of zero has no meaning."""
    step = 1 << ((k - 1).bit_length() - 1)
    while step:
        top = extract(m, k - step, step, k)
        empty = not_(top) if step == 1 else eq(top, 0, step)
        m = ite(empty, shl(m, step, k), m, k)
        exponent = ite(empty, sub(exponent, step, E), exponent, E)
        step //= 2
    return exponent, m


def _shifted(m: Value, amount: Value, k: int) -> Value:
    """m shifted right; the last bit also tells whether ones were lost."""
    amount = zext(amount, E, k) if k > E else amount
    short = lshr(m, amount, k)
    return or_(short, zext(ne(shl(short, amount, k), m, k), 1, k), k)


def _rounded(sign: Value, exponent: Value, m: Value, k: int, w: int = WIDTH) -> Value:
    """The nearest pattern of a width; m has its top bit set, or the number is below the least normal one."""
    f = FORMATS[w]
    p = f.fraction_bits + 1
    exponent = sub(exponent, BIAS - f.bias, E)
    below = slt(exponent, 1, E)
    m = _shifted(m, ite(below, sub(1, exponent, E), 0, E), k)
    exponent = ite(below, 1, exponent, E)
    kept = extract(m, k - p, p, k)
    half, rest = extract(m, k - p - 1, 1, k), extract(m, 0, k - p - 1, k)
    some = rest if k - p - 1 == 1 else ne(rest, 0, k - p - 1)
    up = bool_and(half, bool_or(some, extract(kept, 0, 1, p)))
    wide = E + f.fraction_bits
    # A carry out of the significand moves into the exponent, and a subnormal number has none to add.
    base = shl(zext(sub(exponent, 1, E), E, wide), f.fraction_bits, wide)
    pattern = add(base, add(zext(kept, p, wide), zext(up, 1, wide), wide), wide)
    top = extract(pattern, f.fraction_bits, E, wide)
    overflow = uge(top, (1 << f.exponent_bits) - 1, E)
    bits = trunc(pattern, wide, f.exponent_bits + f.fraction_bits)
    if w == WIDTH:
        fraction = extract(pattern, 0, FRACTION_BITS, wide)
        integer = ne(top, 0, E)
        bits = concat(trunc(top, E, 15), 15, concat(integer, 1, fraction, FRACTION_BITS), _SIGNIFICAND)
    return _signed(sign, ite(overflow, f.infinity, bits, w - 1), w)


def _nan(*operands: Value) -> Value:
    """The NaN operand with the largest significand, quieted; the default one if none is or one is invalid."""
    invalid, some = False, False
    chosen: Value = 0
    best: Value = 0
    for x in operands:
        nan = is_nan(x, WIDTH)
        rank = concat(extract(x, 0, _SIGNIFICAND, WIDTH), _SIGNIFICAND, not_(sign_bit(x, WIDTH)), 1)
        larger = bool_and(nan, ugt(rank, best, 65))
        chosen, best = ite(larger, x, chosen, WIDTH), ite(larger, rank, best, 65)
        invalid, some = bool_or(invalid, not_(is_supported(x))), bool_or(some, nan)
    proper = bool_and(some, not_(invalid))
    return ite(proper, or_(chosen, QUIET, WIDTH), DEFAULT_NAN, WIDTH)


def _unless_nan(result: Value, *operands: Value) -> Value:
    some: Value = False
    for x in operands:
        some = bool_or(some, is_nan(x, WIDTH))
    return ite(some, _nan(*operands), result, WIDTH)


# -- arithmetic -------------------------------------------------------------------------------------------


def _sum(a: Number, b: Number, k: int) -> Value:
    """The sum of two finite numbers. If their exponents differ, the larger one's top bit is set."""
    (s, p, m), (t, q, n) = a, b
    swap = bool_or(sgt(q, p, E), bool_and(eq(p, q, E), ugt(n, m, k)))
    sign, exponent = ite(swap, t, s, 1), ite(swap, q, p, E)
    distance = sub(exponent, ite(swap, p, q, E), E)
    wide = k + 4  # a carry above, three bits below: half, and whether there is more
    large = shl(zext(ite(swap, n, m, k), k, wide), 3, wide)
    small = _shifted(shl(zext(ite(swap, m, n, k), k, wide), 3, wide), distance, wide)
    total = ite(bool_xor(s, t), sub(large, small, wide), add(large, small, wide), wide)
    result = _rounded(sign, *_normalised(add(exponent, 1, E), total, wide), wide)
    zero = _signed(bool_and(s, t), 0)
    return ite(eq(total, 0, wide), zero, result, WIDTH)


def _add(x: Value, y: Value) -> Value:
    result = _sum(_unpack(x), _unpack(y), _SIGNIFICAND)
    opposite = bool_xor(sign_bit(x, WIDTH), sign_bit(y, WIDTH))
    endless = is_infinite(y, WIDTH)
    result = ite(endless, y, result, WIDTH)
    invalid = bool_and(endless, opposite)
    result = ite(is_infinite(x, WIDTH), ite(invalid, DEFAULT_NAN, x, WIDTH), result, WIDTH)
    return result


def _sub(x: Value, y: Value) -> Value:
    return _add(x, fneg(y, WIDTH))


def _mul(x: Value, y: Value) -> Value:
    (s, p, m), (t, q, n) = _unpack(x), _unpack(y)
    sign, k = bool_xor(s, t), 2 * _SIGNIFICAND
    product = mul(zext(m, _SIGNIFICAND, k), zext(n, _SIGNIFICAND, k), k)
    exponent = sub(add(p, q, E), BIAS - 1, E)
    result = _rounded(sign, *_normalised(exponent, product, k), k)
    zero = bool_or(_is_zero(x), _is_zero(y))
    result = ite(zero, _signed(sign, 0), result, WIDTH)
    endless = bool_or(is_infinite(x, WIDTH), is_infinite(y, WIDTH))
    return ite(endless, ite(zero, DEFAULT_NAN, _signed(sign, INFINITY), WIDTH), result, WIDTH)


def _div(x: Value, y: Value) -> Value:
    (s, p, m), (t, q, n) = _unpack(x), _unpack(y)
    sign = bool_xor(s, t)
    (p, m), (q, n) = _normalised(p, m, _SIGNIFICAND), _normalised(q, n, _SIGNIFICAND)
    k, wide = 68, 130
    dividend, divisor = shl(zext(m, _SIGNIFICAND, wide), 66, wide), zext(n, _SIGNIFICAND, wide)
    quotient = udiv(dividend, divisor, wide)
    rest = ne(mul(quotient, divisor, wide), dividend, wide)
    result = concat(trunc(quotient, wide, k - 1), k - 1, rest, 1)
    result = _rounded(sign, *_normalised(add(sub(p, q, E), BIAS, E), result, k), k)
    none, over = is_infinite(y, WIDTH), is_infinite(x, WIDTH)
    zero, by_zero = _is_zero(x), _is_zero(y)
    result = ite(bool_or(zero, none), _signed(sign, 0), result, WIDTH)
    result = ite(bool_or(over, by_zero), _signed(sign, INFINITY), result, WIDTH)
    invalid = bool_or(bool_and(zero, by_zero), bool_and(none, over))
    return ite(invalid, DEFAULT_NAN, result, WIDTH)


def _rem(x: Value, y: Value) -> Value:
    """m * 2**d modulo n by repeated squaring: d has 15 bits."""
    (s, p, m), (_, q, n) = _unpack(x), _unpack(y)
    k = 2 * _SIGNIFICAND
    m, n = zext(m, _SIGNIFICAND, k), zext(n, _SIGNIFICAND, k)
    distance = sub(p, q, E)
    power: Value = urem(1, n, k)
    for bit in range(14, -1, -1):
        power = urem(mul(power, power, k), n, k)
        doubled = urem(shl(power, 1, k), n, k)
        power = ite(extract(distance, bit, 1, E), doubled, power, k)
    left = urem(mul(urem(m, n, k), power, k), n, k)
    back = sub(0, distance, E)  # y is the larger one by so many places
    larger = shl(n, zext(back, E, k), k)
    short = bool_and(slt(distance, 0, E), slt(back, 64, E))
    rest = ite(slt(distance, 0, E), ite(short, urem(m, larger, k), m, k), left, k)
    exponent = add(ite(slt(distance, 0, E), p, q, E), _SIGNIFICAND, E)
    result = _rounded(s, *_normalised(exponent, rest, k), k)
    result = ite(eq(rest, 0, k), _signed(s, 0), result, WIDTH)
    same = bool_or(is_infinite(y, WIDTH), _is_zero(x))
    own = _rounded(s, *_normalised(add(p, _SIGNIFICAND, E), m, k), k)
    result = ite(same, ite(_is_zero(x), x, own, WIDTH), result, WIDTH)
    invalid = bool_or(is_infinite(x, WIDTH), _is_zero(y))
    return ite(invalid, DEFAULT_NAN, result, WIDTH)


def _sqrt(x: Value) -> Value:
    s, p, m = _unpack(x)
    p, m = _normalised(p, m, _SIGNIFICAND)
    # The radicand has 134 bits and an even exponent, its root 67, which two more bits a step bring forth.
    odd = not_(extract(p, 0, 1, E))  # BIAS is odd: p - BIAS is odd for even p
    wide = 134
    radicand = shl(zext(m, _SIGNIFICAND, wide), 69, wide)
    radicand = ite(odd, shl(radicand, 1, wide), radicand, wide)
    k = 70
    root: Value = 0
    rest: Value = 0
    for step in range(67):
        two = extract(radicand, wide - 2 - 2 * step, 2, wide)
        rest = or_(shl(rest, 2, k), zext(two, 2, k), k)
        trial = or_(shl(root, 2, k), 1, k)
        fits = uge(rest, trial, k)
        rest = ite(fits, sub(rest, trial, k), rest, k)
        root = or_(shl(root, 1, k), zext(fits, 1, k), k)
    significand = concat(trunc(root, k, 67), 67, ne(rest, 0, k), 1)
    # (p - BIAS) / 2, cut downwards, is the exponent of a root whose top bit is set
    half = extract(sub(p, BIAS, E), 1, E - 1, E)
    exponent = add(sext(half, E - 1, E), BIAS, E)
    result = _rounded(False, exponent, significand, 68)
    result = ite(is_infinite(x, WIDTH), x, result, WIDTH)
    return ite(_is_zero(x), x, ite(s, DEFAULT_NAN, result, WIDTH), WIDTH)


def _fma(x: Value, y: Value, z: Value) -> Value:
    (s, p, m), (t, q, n), (u, r, o) = _unpack(x), _unpack(y), _unpack(z)
    sign, k = bool_xor(s, t), 2 * _SIGNIFICAND
    product = mul(zext(m, _SIGNIFICAND, k), zext(n, _SIGNIFICAND, k), k)
    exponent, product = _normalised(sub(add(p, q, E), BIAS - 1, E), product, k)
    # zero has the least exponent of all, so that the other summand keeps all its bits
    least = -2 * EXPONENT & (1 << E) - 1
    nothing = bool_or(_is_zero(x), _is_zero(y))
    exponent = ite(nothing, least, exponent, E)
    product = ite(nothing, 0, product, k)
    r, o = _normalised(r, concat(o, _SIGNIFICAND, 0, _SIGNIFICAND), k)
    r = ite(_is_zero(z), least, r, E)
    o = ite(_is_zero(z), 0, o, k)
    result = _sum((sign, exponent, product), (u, r, o), k)
    endless = bool_or(is_infinite(x, WIDTH), is_infinite(y, WIDTH))
    over = is_infinite(z, WIDTH)
    result = ite(endless, _signed(sign, INFINITY), ite(over, z, result, WIDTH), WIDTH)
    invalid = bool_and(endless, bool_or(nothing, bool_and(over, bool_xor(sign, u))))
    return ite(invalid, DEFAULT_NAN, result, WIDTH)


def _round(mode: str, x: Value) -> Value:
    """An integral number."""
    s, p, m = _unpack(x)
    whole = slt(BIAS + FRACTION_BITS - 1, p, E)
    places = ite(whole, 0, sub(BIAS + FRACTION_BITS, p, E), E)
    wide = 2 * _SIGNIFICAND + 2  # the places behind the point come to lie in the lower half and two bits
    places = ite(slt(places, 66, E), places, 66, E)
    split = shl(zext(m, _SIGNIFICAND, wide), 66, wide)
    split = lshr(split, zext(places, E, wide), wide)
    n, rest = extract(split, 66, 64, wide), extract(split, 0, 66, wide)
    some, half = ne(rest, 0, 66), extract(rest, 65, 1, 66)
    tie = eq(rest, 1 << 65, 66)
    up: Value = {
        "rtz": False,
        "rtp": bool_and(some, not_(s)),
        "rtn": bool_and(some, s),
        "rna": half,
        "rne": bool_and(half, bool_or(not_(tie), extract(n, 0, 1, 64))),
    }[mode]
    k = 67
    n = add(zext(n, 64, k), zext(up, 1, k), k)
    result = _rounded(s, *_normalised(BIAS + k - 1, n, k), k)
    result = ite(eq(n, 0, k), _signed(s, 0), result, WIDTH)
    return ite(whole, x, result, WIDTH)


# -- comparisons and conversions --------------------------------------------------------------------------


def _ordered(compare: Callable[[Value, Value, int], Value]) -> Callable[[Expr], Value]:
    def key(x: Value) -> Value:
        sign, exponent, m = _unpack(x)
        magnitude = concat(trunc(exponent, E, 15), 15, m, _SIGNIFICAND)
        magnitude = zext(ite(_is_zero(x), 0, magnitude, 79), 79, 81)
        return ite(sign, sub(0, magnitude, 81), magnitude, 81)

    def operation(n: Expr) -> Value:
        unordered = bool_or(is_nan(n.a, WIDTH), is_nan(n.b, WIDTH))
        return bool_and(not_(unordered), compare(key(n.a), key(n.b), 81))

    return operation


def _convert(n: Expr) -> Value:
    x, w_from, w = n.a, n.a.w, n.w
    f, g = FORMATS[w_from], FORMATS[w]
    sign = sign_bit(x, w_from)
    keep = min(f.fraction_bits, g.fraction_bits)
    payload = extract(x, f.fraction_bits - keep, keep, w_from)
    payload = concat(payload, keep, 0, g.fraction_bits - keep) if keep < g.fraction_bits else payload
    nan = _signed(sign, or_(zext(payload, g.fraction_bits, w - 1), g.infinity | g.quiet, w - 1), w)
    if w_from == WIDTH:
        nan = ite(is_supported(x), nan, g.default_nan, w)
        result = _rounded(*_unpack(x), _SIGNIFICAND, w)
    else:
        p = f.fraction_bits + 1
        raw = extract(x, f.fraction_bits, f.exponent_bits, w_from)
        fraction = extract(x, 0, f.fraction_bits, w_from)
        subnormal = eq(raw, 0, f.exponent_bits)
        m = concat(not_(subnormal), 1, fraction, f.fraction_bits)
        exponent = zext(ite(subnormal, 1, raw, f.exponent_bits), f.exponent_bits, E)
        exponent, m = _normalised(add(exponent, BIAS - f.bias, E), m, p)
        m = concat(m, p, 0, _SIGNIFICAND - p)
        result = _signed(sign, concat(trunc(exponent, E, 15), 15, m, _SIGNIFICAND))
        zero = eq(extract(x, 0, w_from - 1, w_from), 0, w_from - 1)
        result = ite(zero, _signed(sign, 0), result, w)
    result = ite(is_infinite(x, w_from), _signed(sign, g.infinity, w), result, w)
    return ite(is_nan(x, w_from), nan, result, w)


def _from_int(n: Expr) -> Value:
    x, w = n.a, n.a.w
    sign = extract(x, w - 1, 1, w)
    k = max(w, 67)
    m = zext(ite(sign, sub(0, x, w), x, w), w, k) if k > w else ite(sign, sub(0, x, w), x, w)
    result = _rounded(sign, *_normalised(BIAS + k - 1, m, k), k)
    return ite(eq(x, 0, w), 0, result, WIDTH)


def _to_int(n: Expr) -> Value:
    x, k = n.a, n.w
    s, p, m = _unpack(x)
    places = sub(p, BIAS, E)  # of the integer part, less one
    below, fits = slt(places, 0, E), slt(places, k, E)
    wide = k + 1 + FRACTION_BITS
    amount = zext(ite(bool_or(below, not_(fits)), 0, places, E), E, wide)
    integer = extract(shl(zext(m, _SIGNIFICAND, wide), amount, wide), FRACTION_BITS, k + 1, wide)
    integer = ite(below, 0, integer, k + 1)
    least = 1 << (k - 1)
    limit = ite(s, least, least - 1, k + 1)
    invalid = bool_or(bool_or(not_(fits), ugt(integer, limit, k + 1)), is_nan(x, WIDTH))
    number = trunc(integer, k + 1, k)
    return ite(invalid, least, ite(s, sub(0, number, k), number, k), k)


def _binary(operation: Callable[[Value, Value], Value]) -> Callable[[Expr], Value]:
    return lambda n: _unless_nan(operation(n.a, n.b), n.a, n.b)


def _rounding(mode: str) -> Callable[[Expr], Value]:
    return lambda n: _unless_nan(_round(mode, n.a), n.a)


LOWER: dict[str, Callable[[Expr], Value]] = {
    "fadd": _binary(_add),
    "fsub": _binary(_sub),
    "fmul": _binary(_mul),
    "fdiv": _binary(_div),
    "frem": _binary(_rem),
    "ffma": lambda n: _unless_nan(_fma(n.a, n.b, n.c), n.a, n.b, n.c),
    "fsqrt": lambda n: _unless_nan(_sqrt(n.a), n.a),
    **{op: _rounding(mode) for mode, op in ROUND.items()},
    "feq": _ordered(eq),
    "flt": _ordered(slt),
    "fle": _ordered(lambda a, b, w: not_(slt(b, a, w))),
    "fp_convert": _convert,
    "si_to_fp": _from_int,
    "fp_to_si": _to_int,
}

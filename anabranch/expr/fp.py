"""Floating-point operations on values that are bit patterns, concrete or symbolic.

Concrete operands are computed at once (`fpvalue.py`). Symbolic ones become nodes whose value is the bit
pattern of the result, NaNs included, so that the evaluator and the solvers agree bit for bit. What bit
operations express exactly (negation, comparison predicates, minimum) is composed of them.
"""

from __future__ import annotations

from collections.abc import Callable

from . import fpvalue, x87
from .arith import ashr
from .bits import and_, or_, xor
from .boolean import bool_or, ite, not_
from .casts import extract, sext, trunc, zext
from .compare import eq, ugt
from .fpvalue import FORMATS
from .node import MASK, Expr, Value, binary, binary_const, const_binary, nary, unary

# Rounding to an integer, by mode.
ROUND = {mode: f"fround.{mode}" for mode in ("rtz", "rtp", "rtn", "rne", "rna")}
# Operators whose value is the bit pattern of a number, and all that are about such values.
RESULTS = frozenset(
    ("fadd", "fsub", "fmul", "fdiv", "frem", "ffma", "fsqrt", "fp_convert", "si_to_fp", *ROUND.values())
)
OPERATORS = RESULTS | {"feq", "flt", "fle", "fp_to_si"}


def _binary(
    op: str, concrete: Callable[[int, int, int], int], truth: bool = False
) -> Callable[[Value, Value, int], Value]:
    def operation(x: Value, y: Value, w: int) -> Value:
        result = 1 if truth else w
        if x.__class__ is Expr:
            return binary(op, result, x, y) if y.__class__ is Expr else binary_const(op, result, x, y)
        return const_binary(op, result, x, y) if y.__class__ is Expr else concrete(x, y, w)

    return operation


fadd = _binary("fadd", fpvalue.fadd)
fsub = _binary("fsub", fpvalue.fsub)
fmul = _binary("fmul", fpvalue.fmul)
fdiv = _binary("fdiv", fpvalue.fdiv)
frem = _binary("frem", fpvalue.frem)
feq = _binary("feq", fpvalue.feq, truth=True)
flt = _binary("flt", fpvalue.flt, truth=True)
fle = _binary("fle", fpvalue.fle, truth=True)


def fsqrt(x: Value, w: int) -> Value:
    """Square root."""
    return unary("fsqrt", w, x) if x.__class__ is Expr else fpvalue.fsqrt(x, w)


def ffma(x: Value, y: Value, z: Value, w: int) -> Value:
    """x * y + z with one rounding."""
    if x.__class__ is not Expr and y.__class__ is not Expr and z.__class__ is not Expr:
        return fpvalue.ffma(x, y, z, w)
    return nary("ffma", w, x, y, z)


def _round(mode: str) -> Callable[[Value, int], Value]:
    op = ROUND[mode]

    def operation(x: Value, w: int) -> Value:
        return unary(op, w, x) if x.__class__ is Expr else fpvalue.fround(x, mode, w)

    return operation


ftrunc = _round("rtz")
fceil = _round("rtp")
ffloor = _round("rtn")
frint = _round("rne")  # also nearbyint and roundeven
fround = _round("rna")

# -- signs ------------------------------------------------------------------------------------------------


def fneg(x: Value, w: int) -> Value:
    """x with the other sign, NaNs too."""
    return xor(x, 1 << (w - 1), w)


def fabs(x: Value, w: int) -> Value:
    """x without its sign."""
    return and_(x, MASK[w - 1], w)


def fcopysign(x: Value, y: Value, w: int) -> Value:
    """The magnitude of x with the sign of y."""
    return or_(fabs(x, w), and_(y, 1 << (w - 1), w), w)


def is_nan(x: Value, w: int) -> Value:
    """Whether x is a NaN, or an image that x87 does not support and treats as one."""
    nan = ugt(fabs(x, w), FORMATS[w].infinity, w)
    return bool_or(nan, not_(is_supported(x))) if w == x87.WIDTH else nan


def is_supported(x: Value) -> Value:
    """Whether an image of 80 bits has its integer bit, or is subnormal."""
    integer = eq(extract(x, x87.FRACTION_BITS, 1, x87.WIDTH), True, 1)
    return bool_or(integer, eq(extract(x, 64, 15, x87.WIDTH), 0, 15))


def is_infinite(x: Value, w: int) -> Value:
    """Whether x is an infinity."""
    return eq(fabs(x, w), FORMATS[w].infinity, w)


def sign_bit(x: Value, w: int) -> Value:
    """The sign."""
    return extract(x, w - 1, 1, w)


# -- comparisons ------------------------------------------------------------------------------------------


def _uno(x: Value, y: Value, w: int) -> Value:
    return bool_or(is_nan(x, w), is_nan(y, w))


def _one(x: Value, y: Value, w: int) -> Value:
    return bool_or(flt(x, y, w), flt(y, x, w))


PREDICATES: dict[str, Callable[[Value, Value, int], Value]] = {
    "false": lambda x, y, w: False,
    "oeq": feq,
    "ogt": lambda x, y, w: flt(y, x, w),
    "oge": lambda x, y, w: fle(y, x, w),
    "olt": flt,
    "ole": fle,
    "one": _one,
    "ord": lambda x, y, w: not_(_uno(x, y, w)),
    "ueq": lambda x, y, w: not_(_one(x, y, w)),
    "ugt": lambda x, y, w: not_(fle(x, y, w)),
    "uge": lambda x, y, w: not_(flt(x, y, w)),
    "ult": lambda x, y, w: not_(fle(y, x, w)),
    "ule": lambda x, y, w: not_(flt(y, x, w)),
    "une": lambda x, y, w: not_(feq(x, y, w)),
    "uno": _uno,
    "true": lambda x, y, w: True,
}


def fcmp(predicate: str, x: Value, y: Value, w: int) -> Value:
    """A comparison by the name that LLVM gives it."""
    return PREDICATES[predicate](x, y, w)


def _choose(x: Value, y: Value, w: int, x_first: Value, x_if_signs_differ: Value) -> Value:
    differ = not_(eq(sign_bit(x, w), sign_bit(y, w), 1))
    r = ite(differ, ite(x_if_signs_differ, x, y, w), ite(x_first, x, y, w), w)
    return ite(is_nan(x, w), y, ite(is_nan(y, w), x, r, w), w)


def fmin(x: Value, y: Value, w: int) -> Value:
    """The lesser; a number before a NaN, -0 before +0."""
    return _choose(x, y, w, flt(x, y, w), sign_bit(x, w))


def fmax(x: Value, y: Value, w: int) -> Value:
    """The greater; a number before a NaN, +0 before -0."""
    return _choose(x, y, w, not_(flt(x, y, w)), not_(sign_bit(x, w)))


# -- conversions ------------------------------------------------------------------------------------------


def fp_convert(x: Value, w_from: int, w_to: int) -> Value:
    """The value in another width."""
    if w_from == w_to:
        return x
    return unary("fp_convert", w_to, x) if x.__class__ is Expr else fpvalue.fp_convert(x, w_from, w_to)


def si_to_fp(x: Value, w_int: int, w_fp: int) -> Value:
    """The value nearest to a signed integer."""
    if x.__class__ is not Expr:
        return fpvalue.si_to_fp(x, w_int, w_fp)
    if w_int == 1:
        x = sext(x, 1, 2)
    return unary("si_to_fp", w_fp, x)


def ui_to_fp(x: Value, w_int: int, w_fp: int) -> Value:
    """The value nearest to an unsigned integer."""
    return si_to_fp(zext(x, w_int, w_int + 1), w_int + 1, w_fp)


def fp_to_si(x: Value, w_fp: int, w_int: int) -> Value:
    """The signed integer, cut towards zero; out of range as x86 does it (in 32 bits at least, x87 in 16)."""
    least = 16 if w_fp == x87.WIDTH else 32
    if w_int < least:
        return trunc(fp_to_si(x, w_fp, least), least, w_int)
    if least < w_int < 32:
        return trunc(fp_to_si(x, w_fp, 32), 32, w_int)
    if 32 < w_int < 64:
        return trunc(fp_to_si(x, w_fp, 64), 64, w_int)
    return unary("fp_to_si", w_int, x) if x.__class__ is Expr else fpvalue.fp_to_si(x, w_fp, w_int)


def fp_to_ui(x: Value, w_fp: int, w_int: int) -> Value:
    """The unsigned integer, cut towards zero; out of range as compilers for x86-64 do it."""
    if w_int < 32:
        return trunc(fp_to_si(x, w_fp, 32), 32, w_int)
    if w_int < 64:
        return trunc(fp_to_si(x, w_fp, 64), 64, w_int)
    if w_int > 64:
        return trunc(fp_to_si(x, w_fp, w_int + 1), w_int + 1, w_int)
    low = fp_to_si(x, w_fp, 64)
    limit = fpvalue.si_to_fp(1 << 63, 65, w_fp)
    if w_fp == x87.WIDTH:
        high = xor(fp_to_si(fsub(x, limit, w_fp), w_fp, 64), 1 << 63, 64)
        return ite(fle(limit, x, w_fp), high, low, 64)
    high = fp_to_si(fsub(x, limit, w_fp), w_fp, 64)
    return or_(low, and_(high, ashr(low, 63, 64), 64), 64)

"""Floating-point operations beyond the constructors of `expr`; values are bit patterns."""

from __future__ import annotations

from collections.abc import Callable

from anabranch import expr
from anabranch.expr import x87
from anabranch.expr.fpvalue import FORMATS
from anabranch.ir.types import Type
from anabranch.semantics.casts import cast_function
from anabranch.semantics.elements import Value, float_width
from anabranch.semantics.integers import BinaryOperation

FLOATING: dict[str, BinaryOperation] = {
    name: getattr(expr, name) for name in ("fadd", "fsub", "fmul", "fdiv", "frem")
}
"""Opcodes on two floating-point numbers."""

INTRINSICS: dict[str, Callable[..., Value]] = {
    "fabs": expr.fabs,
    "sqrt": expr.fsqrt,
    "fma": expr.ffma,
    "fmuladd": lambda a, b, c, w: expr.fadd(expr.fmul(a, b, w), c, w),
    "floor": expr.ffloor,
    "ceil": expr.fceil,
    "trunc": expr.ftrunc,
    "rint": expr.frint,
    "nearbyint": expr.frint,
    "round": expr.fround,
    "roundeven": expr.frint,
    "minnum": expr.fmin,
    "maxnum": expr.fmax,
    "copysign": expr.fcopysign,
}
"""Intrinsics on floating-point numbers of one width: `(operands..., width) -> value`."""


def saturating_conversion(signed: bool, source: Type, wanted: Type) -> Callable[[Value], Value]:
    """`fptosi.sat` and `fptoui.sat`: numbers out of range become the nearest integer, NaN zero."""
    bits, width = float_width(source), wanted.bits
    least = -(1 << (width - 1)) if signed else 0
    most = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
    convert = cast_function("fptosi" if signed else "fptoui", source, wanted)

    def saturate(a: Value) -> Value:
        low = expr.si_to_fp(least & ((1 << 128) - 1), 128, bits)
        high = expr.si_to_fp(most & ((1 << 128) - 1), 128, bits)
        mask = (1 << width) - 1
        result = expr.ite(expr.fcmp("ogt", a, high, bits), most & mask, convert(a), width)
        result = expr.ite(expr.fcmp("oge", a, high, bits), most & mask, result, width)
        result = expr.ite(expr.fcmp("olt", a, low, bits), least & mask, result, width)
        return expr.ite(expr.fcmp("uno", a, a, bits), 0, result, width)

    return saturate


def float_class(a: Value, test: Value, width: int) -> Value:
    """`llvm.is.fpclass`: is the number in one of the classes of the mask?

    Of the 80-bit images without a class, code generators take those that are no numbers for NaNs, and a
    pseudo-denormal for a finite number that is not normal, where the mask has all of those.
    """
    exponent_bits, mantissa = FORMATS[width].exponent_bits, FORMATS[width].fraction_bits
    fraction = expr.extract(a, 0, mantissa, width)
    exponent = expr.extract(a, width - 1 - exponent_bits, exponent_bits, width)
    negative = expr.eq(expr.extract(a, width - 1, 1, width), True, 1)
    zero_fraction = expr.eq(fraction, 0, mantissa)
    top, low = expr.eq(exponent, (1 << exponent_bits) - 1, exponent_bits), expr.eq(exponent, 0, exponent_bits)
    quiet = expr.eq(expr.extract(a, mantissa - 1, 1, width), True, 1)

    def both(*conditions: Value) -> Value:
        result: Value = True
        for condition in conditions:
            result = expr.and_(result, condition, 1)
        return result

    number = both(expr.not_(top), expr.not_(low))
    nan = both(top, expr.not_(zero_fraction))
    classes = [
        both(nan, expr.not_(quiet)),
        both(nan, quiet),
        both(top, zero_fraction, negative),
        both(number, negative),
        both(low, expr.not_(zero_fraction), negative),
        both(low, zero_fraction, negative),
        both(low, zero_fraction, expr.not_(negative)),
        both(low, expr.not_(zero_fraction), expr.not_(negative)),
        both(number, expr.not_(negative)),
        both(top, zero_fraction, expr.not_(negative)),
    ]
    result: Value = False
    for bit, member in enumerate(classes):
        if int(test) >> bit & 1:
            result = expr.or_(result, member, 1)
    if width != x87.WIDTH:
        return result
    integer = expr.eq(expr.extract(a, mantissa, 1, width), True, 1)
    result = expr.ite(expr.eq(integer, low, 1), both(low, int(test) & 0xF0 == 0xF0), result, 1)
    unsupported = both(expr.not_(integer), expr.not_(low))
    return expr.ite(unsupported, int(test) & 3 == 3, result, 1)

"""math.h as far as it is exact: functions that IEEE 754 defines to the last bit, and tests of classes."""

from __future__ import annotations

from collections.abc import Callable

from anabranch import expr
from anabranch.analysis.effects import PURE
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import eq, extract, ite, lshr, ult
from anabranch.environment.registry import model
from anabranch.environment.values import flag
from anabranch.expr import bool_and, not_
from anabranch.expr.fp import is_infinite, is_nan
from anabranch.expr.fpvalue import FORMATS
from anabranch.semantics.floats import INTRINSICS

Unary = Callable[[Value, int], Value]
Binary = Callable[[Value, Value, int], Value]

# Functions that LLVM has as intrinsics of the same name.
UNARY: dict[str, Unary] = {
    name: INTRINSICS[name]
    for name in ("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "round")
}
BINARY: dict[str, Binary] = {
    "fmin": expr.fmin,
    "fmax": expr.fmax,
    "copysign": expr.fcopysign,
    "fmod": expr.frem,
}


def _register_unary(name: str, width: int, function: Unary) -> None:
    @model(name, effects=PURE)
    def unary(m: MachineApi, x: Value) -> Value:
        return function(x, width)


def _register_binary(name: str, width: int, function: Binary) -> None:
    @model(name, effects=PURE)
    def binary(m: MachineApi, x: Value, y: Value) -> Value:
        return function(x, y, width)


WIDTHS = {"": 64, "f": 32, "l": 80}
"""By the suffix of a function's name."""
for _suffix, _width in WIDTHS.items():
    for _name, _unary in UNARY.items():
        _register_unary(_name + _suffix, _width, _unary)
    for _name, _binary in BINARY.items():
        _register_binary(_name + _suffix, _width, _binary)


def smallest_normal(width: int) -> int:
    return 1 << FORMATS[width].fraction_bits  # the integer bit of 80-bit numbers, which pseudo-denormals have


def sign(x: Value, width: int) -> Value:
    return extract(lshr(x, width - 1, width), 0, 32, width) if width > 32 else lshr(x, 31, 32)


FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL = range(5)


def classify(x: Value, width: int) -> Value:
    """fpclassify, as an expression without a branch."""
    bits = expr.fabs(x, width)
    finite = ite(ult(bits, smallest_normal(width), width), FP_SUBNORMAL, FP_NORMAL, 32)
    finite = ite(eq(bits, 0, width), FP_ZERO, finite, 32)
    infinite = ite(is_infinite(x, width), FP_INFINITE, finite, 32)
    return ite(is_nan(x, width), FP_NAN, infinite, 32)


def _register_classes(suffix: str, width: int) -> None:
    @model(f"__fpclassify{suffix}", effects=PURE)
    def fpclassify(m: MachineApi, x: Value) -> Value:
        return classify(x, width)

    @model(f"__signbit{suffix}", effects=PURE)
    def signbit(m: MachineApi, x: Value) -> Value:
        return sign(x, width)

    @model(f"__isnan{suffix}", f"isnan{suffix}", effects=PURE)
    def isnan(m: MachineApi, x: Value) -> Value:
        return flag(is_nan(x, width))

    @model(f"__isinf{suffix}", f"isinf{suffix}", effects=PURE)
    def isinf(m: MachineApi, x: Value) -> Value:
        """1 or -1 as in glibc: the sign of the infinity."""
        return ite(is_infinite(x, width), ite(eq(sign(x, width), 1, 32), 0xFFFFFFFF, 1, 32), 0, 32)

    @model(f"__finite{suffix}", f"finite{suffix}", effects=PURE)
    def finite(m: MachineApi, x: Value) -> Value:
        below = ult(expr.fabs(x, width), FORMATS[width].infinity, width)
        return flag(bool_and(below, not_(is_nan(x, width))))


for _suffix, _width in WIDTHS.items():
    _register_classes(_suffix, _width)

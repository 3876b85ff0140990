"""Operations that need more than a Python operator: division, variable shifts, checked arithmetic.

All take concrete or symbolic operands and the width; whatever can fail asks `check` first, which ends
the failing side as an error and lets the path go on with the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch import expr
from anabranch.expr import Expr
from anabranch.machine.ends import Fault

Value = Any
Check = Callable[[Value, Fault], None]

DIVISION_BY_ZERO = Fault("division-by-zero", "divide by zero")
DIVISION_OVERFLOW = Fault("overflow", "overflow on division")
OVERSHIFT = Fault("overshift", "overshift error")


def to_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def significant(value: Value, width: int) -> int:
    """How many bits certainly hold the value as a signed number."""
    if value.__class__ is not Expr:
        number = to_signed(int(value), width)
        return (number if number >= 0 else ~number).bit_length() + 1
    if value.op == "sext":
        return int(value.a.w)
    return int(value.a.w) + 1 if value.op == "zext" else width


def resized(value: Value, width: int, wanted: int) -> Value:
    """A signed number in more bits, or in fewer that still hold it."""
    if wanted > width:
        return expr.sext(value, width, wanted)
    return expr.extract(value, 0, wanted, width)


def signed_overflow(operation: str, a: Value, b: Value, width: int) -> Value:
    """Does the signed operation leave the range of its width?"""
    if a.__class__ is not Expr and b.__class__ is not Expr:
        x, y = to_signed(int(a), width), to_signed(int(b), width)
        result = x + y if operation == "add" else x - y if operation == "sub" else x * y
        return not -(1 << (width - 1)) <= result < 1 << (width - 1)
    one, other = significant(a, width), significant(b, width)
    wide = one + other if operation == "mul" else max(one, other) + 1
    if wide <= width:
        return False
    exact = getattr(expr, operation)(resized(a, width, wide), resized(b, width, wide), wide)
    return expr.ne(exact, expr.sext(expr.extract(exact, 0, width, wide), width, wide), wide)


def unsigned_overflow(operation: str, a: Value, b: Value, width: int) -> Value:
    """Does the unsigned operation wrap around?"""
    if operation == "sub":
        return expr.ult(a, b, width)
    if a.__class__ is not Expr and b.__class__ is not Expr:
        x, y = int(a), int(b)
        return (x + y if operation == "add" else x * y) >> width != 0
    wide = 2 * width if operation == "mul" else width + 1
    exact = getattr(expr, operation)(expr.zext(a, width, wide), expr.zext(b, width, wide), wide)
    return expr.ne(expr.extract(exact, width, wide - width, wide), 0, wide - width)


class Arithmetic:
    """The checked operations; `check` comes from the machine."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def udiv(self, a: Value, b: Value, width: int) -> Value:
        self._divisor(b, width)
        return expr.udiv(a, b, width)

    def urem(self, a: Value, b: Value, width: int) -> Value:
        self._divisor(b, width)
        return expr.urem(a, b, width)

    def sdiv(self, a: Value, b: Value, width: int) -> Value:
        if a.__class__ is int and b.__class__ is int and b:
            half = 1 << (width - 1)
            if a < half and b < half:
                return a // b
        self._divisor(b, width)
        self._division_overflow(a, b, width)
        return expr.sdiv(a, b, width)

    def srem(self, a: Value, b: Value, width: int) -> Value:
        if a.__class__ is int and b.__class__ is int and b:
            half = 1 << (width - 1)
            if a < half and b < half:
                return a % b
        self._divisor(b, width)
        self._division_overflow(a, b, width)
        return expr.srem(a, b, width)

    def _divisor(self, b: Value, width: int) -> None:
        if b.__class__ is Expr:
            self.check(expr.eq(b, 0, width), DIVISION_BY_ZERO)
        elif not b:
            self.check(True, DIVISION_BY_ZERO)

    def _division_overflow(self, a: Value, b: Value, width: int) -> None:
        least, minus_one = 1 << (width - 1), (1 << width) - 1
        if width == 1:
            least, minus_one = True, True
        bad = expr.and_(expr.eq(a, least, width), expr.eq(b, minus_one, width), 1)
        if bad is not False:
            self.check(bad, DIVISION_OVERFLOW)

    def shl(self, a: Value, b: Value, width: int) -> Value:
        self._shift(b, width)
        return expr.shl(a, b, width)

    def lshr(self, a: Value, b: Value, width: int) -> Value:
        self._shift(b, width)
        return expr.lshr(a, b, width)

    def ashr(self, a: Value, b: Value, width: int) -> Value:
        self._shift(b, width)
        return expr.ashr(a, b, width)

    def _shift(self, b: Value, width: int) -> None:
        if b.__class__ is Expr:
            self.check(expr.uge(b, width, b.w) if width < 1 << b.w else False, OVERSHIFT)
        elif b >= width:
            self.check(True, OVERSHIFT)

    def add_nsw(self, a: Value, b: Value, width: int) -> Value:
        return self._no_overflow("add", a, b, width)

    def sub_nsw(self, a: Value, b: Value, width: int) -> Value:
        return self._no_overflow("sub", a, b, width)

    def mul_nsw(self, a: Value, b: Value, width: int) -> Value:
        return self._no_overflow("mul", a, b, width)

    def _no_overflow(self, operation: str, a: Value, b: Value, width: int) -> Value:
        bad = signed_overflow(operation, a, b, width)
        if bad is not False:
            word = {"add": "addition", "sub": "subtraction", "mul": "multiplication"}[operation]
            self.check(bad, Fault("overflow", f"overflow on {word}"))
        return getattr(expr, operation)(a, b, width)

"""Arithmetic on integers beyond the constructors of `expr`: overflow, saturation, funnel shifts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.types import to_signed
from anabranch.semantics.elements import Value

BinaryOperation = Callable[[Value, Value, int], Value]
"""`(a, b, width) -> value`."""

DIVISIONS = frozenset(("udiv", "urem", "sdiv", "srem"))
SHIFTS = frozenset(("shl", "lshr", "ashr"))
INTEGER: dict[str, BinaryOperation] = {
    "and": expr.and_,
    "or": expr.or_,
    **{name: getattr(expr, name) for name in ("add", "sub", "mul", "xor", *DIVISIONS, *SHIFTS)},
}
"""Opcodes on two integers. Divisors are not zero and shift amounts below the width, or see `conditions`."""

SIGNED = frozenset(("slt", "sle", "sgt", "sge"))
"""Predicates of `icmp` on signed numbers."""


def boolean(value: Value) -> Value:
    """Registers hold one-bit values as Booleans."""
    return bool(value) if value.__class__ is int else value


def narrow(value: Value, source: int, target: int) -> Value:
    """Keep the low `target` bits; one bit is a Boolean."""
    if target == 1:
        if value.__class__ is Expr:
            return expr.eq(expr.extract(value, 0, 1, source), True, 1) if source > 1 else value
        return bool(value & 1)
    if value.__class__ is Expr:
        return expr.extract(value, 0, target, source)
    return int(value) & ((1 << target) - 1)


def _significant(value: Value, width: int) -> int:
    """How many bits certainly hold the value as a signed number."""
    if value.__class__ is not Expr:
        number = to_signed(int(value), width)
        return (number if number >= 0 else ~number).bit_length() + 1
    if value.op == "sext":
        return int(value.a.w)
    return int(value.a.w) + 1 if value.op == "zext" else width


def _resized(value: Value, width: int, wanted: int) -> Value:
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
    one, other = _significant(a, width), _significant(b, width)
    wide = one + other if operation == "mul" else max(one, other) + 1
    if wide <= width:
        return False
    exact = INTEGER[operation](_resized(a, width, wide), _resized(b, width, wide), wide)
    return expr.ne(exact, expr.sext(expr.extract(exact, 0, width, wide), width, wide), wide)


def unsigned_overflow(operation: str, a: Value, b: Value, width: int) -> Value:
    """Does the unsigned operation wrap around?"""
    if operation == "sub":
        return expr.ult(a, b, width)
    if a.__class__ is not Expr and b.__class__ is not Expr:
        x, y = int(a), int(b)
        return (x + y if operation == "add" else x * y) >> width != 0
    wide = 2 * width if operation == "mul" else width + 1
    exact = INTEGER[operation](expr.zext(a, width, wide), expr.zext(b, width, wide), wide)
    return expr.ne(expr.extract(exact, width, wide - width, wide), 0, wide - width)


def with_overflow(kind: str, a: Value, b: Value, width: int) -> tuple[Value, Value]:
    """`sadd.with.overflow` and its relatives: `kind` begins with the sign and the operation."""
    overflow = signed_overflow if kind[0] == "s" else unsigned_overflow
    return INTEGER[kind[1:4]](a, b, width), overflow(kind[1:4], a, b, width)


def _signed_limit(a: Value, width: int) -> Value:
    """The least or the greatest signed number, by the sign of `a`."""
    return expr.ite(expr.slt(a, 0, width), 1 << (width - 1), (1 << (width - 1)) - 1, width)


def _saturating(kind: str, a: Value, b: Value, width: int) -> Value:
    result, overflow = with_overflow(kind, a, b, width)
    unsigned_limit = (1 << width) - 1 if kind == "uadd" else 0
    limit = _signed_limit(a, width) if kind[0] == "s" else unsigned_limit
    return expr.ite(overflow, limit, result, width)


def _saturating_shift(kind: str, a: Value, b: Value, width: int) -> Value:
    shifted = expr.shl(a, b, width)
    if kind == "ushl":
        back, limit = expr.lshr(shifted, b, width), (1 << width) - 1
    else:
        back, limit = expr.ashr(shifted, b, width), _signed_limit(a, width)
    return expr.ite(expr.ne(back, a, width), limit, shifted, width)


def _funnel(left: bool, a: Value, b: Value, amount: Value, width: int) -> Value:
    """`fshl` and `fshr`: shift the double word, keep one half."""
    amount = expr.urem(amount, width, width)
    both = expr.concat(a, width, b, width)
    wide = expr.zext(amount, width, 2 * width)
    if left:
        return expr.extract(expr.shl(both, wide, 2 * width), width, width, 2 * width)
    return expr.extract(expr.lshr(both, wide, 2 * width), 0, width, 2 * width)


def _chosen(compare: BinaryOperation, a: Value, b: Value, width: int) -> Value:
    return expr.ite(compare(a, b, width), a, b, width)


def _absolute(a: Value, _poison: Value, width: int) -> Value:
    return expr.ite(expr.slt(a, 0, width), expr.sub(0, a, width), a, width)


def compare3(signed: bool, a: Value, b: Value, width: int, result: int) -> Value:
    """`scmp` and `ucmp`: -1, 0 or 1 in `result` bits."""
    less = (expr.slt if signed else expr.ult)(a, b, width)
    more = (expr.sgt if signed else expr.ugt)(a, b, width)
    return expr.ite(less, (1 << result) - 1, expr.ite(more, 1, 0, result), result)


EXTREMES: dict[str, BinaryOperation] = {
    "smin": partial(_chosen, expr.slt),
    "smax": partial(_chosen, expr.sgt),
    "umin": partial(_chosen, expr.ult),
    "umax": partial(_chosen, expr.ugt),
}
INTRINSICS: dict[str, Callable[..., Value]] = {
    **{f"{kind}.sat": partial(_saturating, kind) for kind in ("uadd", "usub", "sadd", "ssub")},
    **{f"{kind}.sat": partial(_saturating_shift, kind) for kind in ("ushl", "sshl")},
    **EXTREMES,
    "abs": _absolute,
    "ctlz": lambda a, _, w: expr.ctlz(a, w),
    "cttz": lambda a, _, w: expr.cttz(a, w),
    "ctpop": expr.ctpop,
    "bswap": expr.bswap,
    "bitreverse": expr.bitreverse,
    "fshl": partial(_funnel, True),
    "fshr": partial(_funnel, False),
}
"""Intrinsics on integers of one width: `(operands..., width) -> value`."""

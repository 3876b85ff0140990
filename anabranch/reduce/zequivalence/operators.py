"""What an operator can be made to give by operands that are free (Li et al., 3.3, Definitions 3 to 5).

The definitions ask whether free operands reach *every* value. Here the answer is the set of values reached,
because LLVM's casts and masks reach a part of them and that part is as good to know: a `Cube` is the set of
values in which the bits of a mask are free and the others fixed. Type I of the paper is "full with one
operand free, whatever the other is", Type II "full with all operands free", Type III the rest.

Every function here is a claim "for every value of the other operands, exactly these values"; a test proves
each claim over all cubes and values at widths 1 to 4. What is not listed gives None: Type III. Floating point
and tables are not listed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from anabranch.expr import MASK, Expr
from anabranch.expr import node as op
from anabranch.expr.node import low_width
from anabranch.expr.registry import OPERATORS

Cube: TypeAlias = tuple[int, int]  # (value of the fixed bits, mask of the free bits); the two share no bit
Free: TypeAlias = Cube | None  # None: an operand with a value of its own, any value

BOTH: Cube = (0, 1)  # either truth value
COMMUTATIVE = frozenset(operator.name for operator in OPERATORS.values() if operator.commutative)


def full(w: int) -> Cube:
    """All values of width w."""
    return 0, MASK[w]


def constant(x: Any) -> Free:
    """An operand that is no node, or a parameter (None for one that is no number)."""
    return (int(x), 0) if isinstance(x, int) else None


def image(n: Expr, a: Free, b: Free, c: Free) -> Cube | None:
    """The values of n while the operands that are cubes range over them, each by itself.

    Constants are cubes without free bits. The answer holds for every value of the operands that are None.
    None: the values depend on those, or make no cube.
    """
    if n.op in OF_EITHER:
        return OF_EITHER[n.op](n, a, b)
    if n.op == op.ITE:
        return _ite(n, a, b, c)
    if a is not None and n.op in OF_ONE:
        return OF_ONE[n.op](n, a)
    if a is not None and b is not None and n.op in OF_BOTH:
        return OF_BOTH[n.op](n, a, b)
    return None


def _operand_width(n: Expr) -> int:
    w: int = n.a.w if n.a.__class__ is Expr else n.b.w
    return w


# -- casts ------------------------------------------------------------------------------------------------


def _zext(n: Expr, a: Cube) -> Cube | None:
    return a


def _sext(n: Expr, a: Cube) -> Cube | None:
    base, mask = a
    narrow = n.a.w
    sign = 1 << (narrow - 1)
    if mask & sign:  # copies of one free bit are not free
        return None
    return (base | MASK[n.w] ^ MASK[narrow], mask) if base & sign else a


def _extract(n: Expr, a: Cube) -> Cube | None:
    cut = MASK[n.w]
    return a[0] >> n.c & cut, a[1] >> n.c & cut


def _concat(n: Expr, a: Cube, b: Cube) -> Cube | None:
    k = low_width(n)
    return a[0] << k | b[0], a[1] << k | b[1]


# -- bits -------------------------------------------------------------------------------------------------


def _not(n: Expr, a: Cube) -> Cube | None:
    return ~a[0] & ~a[1] & 1, a[1]


def _and(n: Expr, a: Cube, b: Cube) -> Cube | None:
    ones = a[0] & b[0]  # the bits of two free cubes are independent, so each result bit stands for itself
    possible = (a[0] | a[1]) & (b[0] | b[1])
    return ones, possible & ~ones


def _or(n: Expr, a: Cube, b: Cube) -> Cube | None:
    ones = a[0] | b[0]
    return ones, (a[1] | b[1]) & ~ones


def _xor(n: Expr, a: Free, b: Free) -> Cube | None:
    if _is_full(a, n.w) or _is_full(b, n.w):
        return full(n.w)
    if a is None or b is None:
        return None
    mask = a[1] | b[1]
    return (a[0] ^ b[0]) & ~mask, mask


def _shift(n: Expr, a: Cube, b: Cube) -> Cube | None:
    if b[1]:  # a shift by nothing is among the choices
        return full(n.w) if _is_full(a, n.w) and not b[0] else None
    if b[0] >= n.w:
        return 0, 0
    if n.op == op.LSHR:
        return a[0] >> b[0], a[1] >> b[0]
    return a[0] << b[0] & MASK[n.w], a[1] << b[0] & MASK[n.w]


def _ashr(n: Expr, a: Cube, b: Cube) -> Cube | None:
    return full(n.w) if _is_full(a, n.w) and not b[0] else None


# -- arithmetic -------------------------------------------------------------------------------------------


def _is_full(x: Free, w: int) -> bool:
    return x is not None and x[1] == MASK[w]


def _add(n: Expr, a: Free, b: Free) -> Cube | None:
    if _is_full(a, n.w) or _is_full(b, n.w):
        return full(n.w)
    if a is None or b is None:
        return None
    if not a[1]:
        a, b = b, a
    return None if b[1] else _moved(a, b[0], n.w)


def _moved(x: Cube, by: int, w: int) -> Cube | None:
    """The cube with a constant added, where no carry runs through a free bit into a fixed one."""
    base, mask = x
    whole = MASK[w]
    if mask == 0:
        return base + by & whole, 0
    low = (mask & -mask) - 1  # the fixed bits below the free ones
    if mask + low == whole:
        return base + by & low, mask  # free up to the top: carries into free bits change nothing
    if mask & (mask + 1) == 0 and by & mask == 0:
        return base + by & whole, mask  # free at the bottom, where nothing is added
    return None


def _sub(n: Expr, a: Free, b: Free) -> Cube | None:
    if _is_full(a, n.w) or _is_full(b, n.w):
        return full(n.w)
    if a is None or b is None or b[1]:
        return None
    return _moved(a, -b[0] & MASK[n.w], n.w)


def _mul(n: Expr, a: Cube, b: Cube) -> Cube | None:
    if _is_full(a, n.w) and _is_full(b, n.w):
        return full(n.w)  # one of them may be 1
    if not a[1]:
        a, b = b, a
    if b[1] or not _is_full(a, n.w):
        return None
    if b[0] == 0:
        return 0, 0
    zeros = (b[0] & -b[0]) - 1  # an odd factor is a bijection; a power of two keeps the low bits zero
    return 0, MASK[n.w] & ~zeros


def _division(n: Expr, a: Cube, b: Cube) -> Cube | None:
    """The divisor may be 1, or 0, for which the remainder is the dividend (SMT-LIB)."""
    neutral = (int(n.op in (op.UDIV, op.SDIV)), 0)
    return full(n.w) if _is_full(a, n.w) and (_is_full(b, n.w) or b == neutral) else None


# -- comparisons ------------------------------------------------------------------------------------------


def _eq(n: Expr, a: Free, b: Free) -> Cube | None:
    w = _operand_width(n)
    if _is_full(a, w) or _is_full(b, w):
        return BOTH
    if a is None or b is None:
        return BOTH if _hits(a, n.b) or _hits(b, n.a) else None
    fixed = MASK[w] & ~(a[1] | b[1])
    if (a[0] ^ b[0]) & fixed:
        return 0, 0
    return BOTH if a[1] | b[1] else (1, 0)


def _hits(x: Free, other: Any) -> bool:
    """Is any value of the other operand among those of x, which are more than one?"""
    return (
        x is not None
        and x[1] != 0
        and x[0] == 0
        and other.__class__ is Expr
        and possible_bits(other) & ~x[1] == 0
    )


DEPTH = 5  # levels of an expression that are looked at for bits that are always zero


def possible_bits(e: Any, depth: int = DEPTH) -> int:
    """The bits that may be one, by the shape; all others are zero."""
    if e.__class__ is not Expr:
        return int(e)
    kind = e.op
    if depth:
        if kind == op.AND:
            return possible_bits(e.a, depth - 1) & possible_bits(e.b, depth - 1)
        if kind in (op.OR, op.XOR):
            return possible_bits(e.a, depth - 1) | possible_bits(e.b, depth - 1)
        if kind == op.ZEXT:
            return possible_bits(e.a, depth - 1)
        if kind == op.EXTRACT:
            return possible_bits(e.a, depth - 1) >> int(e.c) & MASK[e.w]
        if kind == op.CONCAT:
            return possible_bits(e.a, depth - 1) << low_width(e) | possible_bits(e.b, depth - 1)
        if kind == op.ITE:
            return possible_bits(e.b, depth - 1) | possible_bits(e.c, depth - 1)
    return MASK[e.w]


def _compared(least_a: int, most_a: int, least_b: int, most_b: int) -> Cube:
    """The outcomes of a < b over independent values between (and at) these ends."""
    can, can_not = least_a < most_b, most_a >= least_b
    return BOTH if can and can_not else (int(can), 0)


def _ult(n: Expr, a: Free, b: Free) -> Cube | None:
    if a is not None and b is not None:
        return _compared(a[0], a[0] | a[1], b[0], b[0] | b[1])
    w = _operand_width(n)
    # a zero extension is never the greatest value, which is all that stands in the way of something greater
    if _is_full(b, w) and n.a.__class__ is Expr and n.a.op == op.ZEXT:
        return BOTH
    return None


def signed_ends(x: Cube, w: int) -> tuple[int, int]:
    """The least and the greatest member as signed numbers."""
    sign = 1 << (w - 1)
    base, mask = x
    least, most = base | mask & sign, base | mask & ~sign
    return least - (least & sign) * 2, most - (most & sign) * 2


def _slt(n: Expr, a: Free, b: Free) -> Cube | None:
    w = _operand_width(n)
    if a is not None and b is not None:
        return _compared(*signed_ends(a, w), *signed_ends(b, w))
    if _is_full(b, w) and _below_most(n.a, w):
        return BOTH
    if _is_full(a, w) and n.b.__class__ is Expr and n.b.op in op.EXTENSIONS:  # never the least value
        return BOTH
    return None


def _below_most(e: Any, w: int) -> bool:
    """Is the value, by its shape, never the greatest signed one?"""
    return e.__class__ is Expr and bool(e.op == op.SEXT or (e.op == op.ZEXT and e.a.w < w - 1))


# -- choice -----------------------------------------------------------------------------------------------


def _ite(n: Expr, a: Free, b: Free, c: Free) -> Cube | None:
    if b is not None and c is not None:
        if b == c:
            return b
        if a is not None and a[1]:
            return _union(b, c)
    if a is not None and a[1] and (_is_full(b, n.w) or _is_full(c, n.w)):
        return full(n.w)
    if a is not None and not a[1]:
        return b if a[0] else c
    return None


def _union(x: Cube, y: Cube) -> Cube | None:
    """The union if it is a cube."""
    for large, small in ((x, y), (y, x)):
        if small[1] & ~large[1] == 0 and (large[0] ^ small[0]) & ~large[1] == 0:
            return large
    differ = x[0] ^ y[0]
    if x[1] == y[1] and differ & (differ - 1) == 0:
        return x[0] & ~differ, x[1] | differ
    return None


# What an operator gives if its only operand is free, if both are, and if one of them may be.
OF_ONE: dict[str, Callable[[Expr, Cube], Cube | None]] = {
    op.ZEXT: _zext,
    op.SEXT: _sext,
    op.EXTRACT: _extract,
    op.NOT: _not,
}
OF_BOTH: dict[str, Callable[[Expr, Cube, Cube], Cube | None]] = {
    op.CONCAT: _concat,
    op.AND: _and,
    op.OR: _or,
    op.SHL: _shift,
    op.LSHR: _shift,
    op.ASHR: _ashr,
    op.MUL: _mul,
    **dict.fromkeys((op.UDIV, op.SDIV, op.UREM, op.SREM), _division),
}
OF_EITHER: dict[str, Callable[[Expr, Free, Free], Cube | None]] = {
    op.XOR: _xor,
    op.ADD: _add,
    op.SUB: _sub,
    op.EQ: _eq,
    op.ULT: _ult,
    op.SLT: _slt,
}


def slice_mask(n: Expr) -> int:
    """The bits of its operand that n looks at, if it hands them on as they are; 0 for any other operator.

    Operators that look at different bits of one value are independent of each other.
    """
    if n.op == op.EXTRACT:
        return MASK[n.w] << int(n.c)
    if n.op == op.AND and n.b.__class__ is not Expr:
        return int(n.b)
    return 0

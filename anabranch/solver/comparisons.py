"""Constraints that compare one value with constants.

A loop that counts up to an input leaves one such constraint a round. Each slice holds all of its constraints,
so that memory would grow with the square of the rounds. Where a slice has many constraints, those on one
value are condensed: what they say together is a range.
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.expr import MASK, Expr, not_
from anabranch.expr.boolean import negation
from anabranch.expr.compare import ult_const
from anabranch.expr.node import EQ, NOT, SLT, ULT

from .slices import Slice, conjuncts
from .valuesets import Ranges, outside, overlap

MANY = 16  # constraints of a slice from which on they are condensed
FEW_RANGES = 4  # as those of a loop; many, as those of a long switch, would be followed in vain
COMPARISONS = frozenset((EQ, ULT, SLT))


def compared(cond: Expr) -> Expr | None:
    """The value that a condition, or what it negates, compares with a constant."""
    if cond.op == NOT:
        cond = cond.a
    return cond.a if cond.op in COMPARISONS and cond.b.__class__ is int else None


def allowed(cond: Expr) -> Ranges:
    """The values that a comparison with a constant allows for what it compares."""
    if cond.op == NOT:
        return outside(allowed(cond.a), MASK[cond.a.a.w])
    c, top = cond.b, MASK[cond.a.w]
    if cond.op == EQ:
        return ((c, c),)
    if cond.op == ULT:
        return ((0, c - 1),)
    negative = (top >> 1) + 1
    return ((0, c - 1), (negative, top)) if c < negative else ((negative, c - 1),)


def condensed(order: tuple[Expr, ...], new: Sequence[Expr]) -> tuple[Expr, ...]:
    """Constraints and new ones, with the same meaning in fewer if they are many."""
    if len(order) < MANY:
        return (*order, *new)
    for cond in new:
        order = _condensed(order, cond)
    return order


def _condensed(order: tuple[Expr, ...], cond: Expr) -> tuple[Expr, ...]:
    value = compared(cond)
    if value is None:
        return (*order, cond)
    ranges, same = narrowed_by(allowed(cond), value, order)
    if len(same) < 2 or len(ranges) != 1:
        return (*order, cond)
    ((least, greatest),) = ranges
    limits = (not_(ult_const(value, least)), ult_const(value, greatest + 1))
    known = frozenset(same)
    fewer = [c for limit in limits if limit.__class__ is Expr for c in conjuncts(limit)]
    return tuple(dict.fromkeys([*[c for c in order if c not in known], *fewer]))


def narrowed_by(ranges: Ranges, value: Expr, order: tuple[Expr, ...]) -> tuple[Ranges, list[Expr]]:
    """What comparisons leave of the ranges of a value, and which they are; not all if ranges become many."""
    same: list[Expr] = []
    for c in order:
        if compared(c) is value:
            ranges = overlap(ranges, allowed(c))
            same.append(c)
            if len(ranges) > FEW_RANGES:
                break
    return ranges, same


def follows(s: Slice, cond: Expr) -> bool | None:
    """Whether the constraints of a slice that compare the same value, or are the condition, decide it."""
    constraints = s.constraints
    if cond in constraints:
        return True
    if negation(cond) in constraints:
        return False
    if s.values is not None or (value := compared(cond)) is None:
        return None  # exact values say all that comparisons do
    ranges, _ = narrowed_by(((0, MASK[value.w]),), value, s.order)
    wanted = allowed(cond)
    if not overlap(ranges, wanted):
        return False
    return None if overlap(ranges, outside(wanted, MASK[value.w])) else True

"""Expressions as sums of variables: `s + zext(t) + sext(i - trunc(t))` is `s + i` where nothing wraps around.

Where a loop begins at a position that depends on the number of an earlier loop, what it reads in a round is
at one place only if the two cancel out, which needs ranges of the variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from anabranch.expr import MASK, Expr, eq, not_, ugt, ult, variable
from anabranch.expr.node import (
    ADD,
    CONCAT,
    EQ,
    EXTRACT,
    MUL,
    NOT,
    SEXT,
    SHL,
    SLT,
    SUB,
    ULT,
    VAR,
    XOR,
    ZEXT,
    low_width,
)
from anabranch.ir.types import to_signed

Value = Any
Bounds = Callable[[int], tuple[int, int]]
"""The least and the greatest value of a variable."""


class Affine(NamedTuple):
    """An integer that is congruent to the value of an expression modulo two to its width."""

    constant: int
    terms: tuple[tuple[int, int], ...] = ()
    """Variables by index, ascending, each with a factor that is not 0."""

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """This and so many times the other."""
        terms = dict(self.terms)
        for v, f in other.terms:
            terms[v] = terms.get(v, 0) + factor * f
        kept = tuple(sorted((v, f) for v, f in terms.items() if f))
        return Affine(self.constant + factor * other.constant, kept)

    def range(self, bounds: Bounds) -> tuple[int, int]:
        """The least and the greatest value that it can have."""
        lo = hi = self.constant
        for v, f in self.terms:
            low, high = bounds(v)
            lo += f * (low if f > 0 else high)
            hi += f * (high if f > 0 else low)
        return lo, hi


def affine(e: Value, bounds: Bounds, width: int = 64) -> Affine | None:
    """An expression as a sum; None if it is none, or may wrap around where it is extended."""
    if e.__class__ is not Expr:
        return Affine(to_signed(int(e) & MASK[width], width))
    op = e.op
    if op == VAR:
        return Affine(0, ((e.a, 1),))
    if op in (ADD, SUB):
        a, b = affine(e.a, bounds, e.w), affine(e.b, bounds, e.w)
        return None if a is None or b is None else a.plus(b, 1 if op == ADD else -1)
    if op == MUL and e.b.__class__ is int:
        a = affine(e.a, bounds, e.w)
        return None if a is None else Affine(0).plus(a, to_signed(e.b, e.w))
    if op == SHL and e.b.__class__ is int:
        a = affine(e.a, bounds, e.w)
        return None if a is None else Affine(0).plus(a, 1 << e.b)
    if op == XOR and e.b.__class__ is int and e.b == MASK[e.w]:
        a = affine(e.a, bounds, e.w)
        return None if a is None else Affine(-1).plus(a, -1)
    if op == CONCAT and e.a.__class__ is Expr and e.b.__class__ is int:
        a = affine(e.a, bounds)
        return None if a is None else Affine(e.b).plus(a, 1 << low_width(e))
    if op == EXTRACT and e.c == 0:
        return affine(e.a, bounds)
    if op in (ZEXT, SEXT):
        a = affine(e.a, bounds)
        if a is None:
            return None
        narrow = e.a.w
        lo, hi = a.range(bounds)
        start = 0 if op == ZEXT else -(1 << (narrow - 1))
        if lo >= start and hi < start + (1 << narrow):
            return a
    return None


def comparison(condition: Expr, bounds: Bounds, never: Callable[[Expr], bool]) -> Value:
    """A comparison of two sums as one of what is left of their difference, if that is a single variable:
    `w - t < n - t` is `w < n`. `never`: is a condition infeasible?"""
    holds = condition.op != NOT
    node = condition if holds else condition.a
    if node.op not in (EQ, ULT, SLT):
        return condition
    width = node.a.w if node.a.__class__ is Expr else node.b.w
    sides = [_in_range(side, width, node.op == SLT, bounds, never) for side in (node.a, node.b)]
    if sides[0] is None or sides[1] is None:
        return condition
    difference = sides[1].plus(sides[0], -1)
    lo, hi = difference.range(bounds)
    known: Value
    if node.op == EQ:
        known = _equal(difference) if lo <= 0 <= hi else False
    elif lo > 0 or hi <= 0:
        known = lo > 0
    else:
        known = _positive(difference)
    if known is None:
        return condition
    return known if holds else not_(known)


def _in_range(
    e: Value, width: int, signed: bool, bounds: Bounds, never: Callable[[Expr], bool]
) -> Affine | None:
    """A side of a comparison, if it does not wrap around."""
    form = affine(e, bounds, width)
    if form is None:
        return None
    if not signed and not form.terms:
        return Affine(form.constant & MASK[width])
    lo, hi = form.range(bounds)
    start = -(1 << (width - 1)) if signed else 0
    if lo >= start and hi < start + (1 << width):
        return form
    # Of a difference that may be negative as far as its ranges say, the solver knows better.
    if not signed and e.__class__ is Expr and e.op == SUB and hi < 1 << width:
        a, b = affine(e.a, bounds, width), affine(e.b, bounds, width)
        if a is not None and b is not None and a.range(bounds)[0] >= 0 and b.range(bounds)[0] >= 0:
            return form if never(ult(e.a, e.b, width)) else None
    return None


def _equal(difference: Affine) -> Value:
    """difference == 0."""
    if len(difference.terms) != 1:
        return None
    ((v, f),) = difference.terms
    x = variable(v)
    value, rest = divmod(-difference.constant, f)
    return eq(x, value, x.w) if not rest and 0 <= value <= MASK[x.w] else False


def _positive(difference: Affine) -> Value:
    """difference > 0, which is neither always so nor never."""
    if len(difference.terms) != 1 or abs(difference.terms[0][1]) != 1:
        return None
    ((v, f),) = difference.terms
    x, c = variable(v), difference.constant
    return ugt(x, -c, x.w) if f > 0 else ult(x, c, x.w)

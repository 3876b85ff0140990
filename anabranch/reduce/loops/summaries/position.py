"""Where paths enter a loop, on an axis that all paths of a state have in common.

Mostly a state enters a loop at one position. Where the position depends on the number of an earlier loop, the
rounds of all its paths are counted from one origin: when a path that enters at A is at w, it has gone round
w - A times.
"""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr, add, eq, mul, sub, trunc, uge, ule, variable, zext
from anabranch.reduce.loops.summaries.affine import Affine, Bounds
from anabranch.semantics.addresses import MASK64

Value = Any


class Position:
    """The position A where the paths of a state enter: a sum of variables, or 0."""

    def __init__(self, entry: Affine, bounds: Bounds) -> None:
        self.entry = entry
        self.first, self.last = entry.range(bounds)
        """The least and the greatest position."""
        self._value: Value = entry.constant & MASK64
        for v, factor in entry.terms:
            x = variable(v)
            self._value = add(self._value, mul(zext(x, x.w, 64), factor & MASK64, 64), 64)

    @property
    def fixed(self) -> bool:
        """Do all paths enter at one?"""
        return not self.entry.terms

    def reached(self, w: int) -> Value:
        """A <= w: is a path in the loop when others are at w, or was it?"""
        if w >= self.last or w < self.first:
            return w >= self.last
        single = self._single(w)
        if single is not None:
            x, value, factor = single
            return ule(x, value, x.w) if factor > 0 else uge(x, value, x.w)
        return ule(sub(self._value, self.first & MASK64, 64), w - self.first, 64)

    def enters(self, w: int) -> Value:
        """A == w."""
        if self.fixed:
            return w == self.first
        single = self._single(w)
        if single is not None:
            x, value, _ = single
            return eq(x, value, x.w)
        return eq(self._value, w & MASK64, 64)

    def _single(self, w: int) -> tuple[Expr, int, int] | None:
        """If A is one variable, plus or minus: the variable, its value where A is w, and the sign."""
        if len(self.entry.terms) != 1 or abs(self.entry.terms[0][1]) != 1:
            return None
        ((v, factor),) = self.entry.terms
        return variable(v), factor * (w - self.entry.constant), factor

    def number_entering(self, w: int) -> tuple[int, int] | None:
        """If A is a single variable, plus or minus: the variable, and its value where A is w."""
        single = self._single(w)
        return None if single is None else (self.entry.terms[0][0], single[1])

    def rounds(self, w: int, width: int) -> Value:
        """How many rounds a path has gone when it is at w."""
        k = sub(w & MASK64, self._value, 64)
        return trunc(k, 64, width) if width < 64 else k

    def at(self, model: dict[int, int]) -> int:
        """Where the path of a model enters."""
        return self.entry.constant + sum(factor * model.get(v, 0) for v, factor in self.entry.terms)

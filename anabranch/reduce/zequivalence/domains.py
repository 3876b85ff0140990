"""Clauses over one variable as the set of values that they leave it (`solver.valuesets`).

Sets are compared as sets, so that it does not matter by which comparisons a path came to them.
"""

from __future__ import annotations

from collections.abc import Iterable

from anabranch.expr import Expr, expr_vars, variable
from anabranch.reduce.zequivalence.clauses import Infeasible, is_small
from anabranch.reduce.zequivalence.operators import Cube
from anabranch.solver.valuesets import ValueSet, full_set, intersect, truth_set


def values_left(clause: Expr) -> tuple[Expr, ValueSet] | None:
    """The variable of a small clause over one variable with the values that satisfy it, if they are known."""
    if not is_small(clause):
        return None
    vs = expr_vars(clause)
    if len(vs) != 1 or vs[0] < 0:
        return None
    found = truth_set(clause)
    return None if found is None else (variable(vs[0]), found)


class Domains:
    """The values left to each variable, or leaf, by the clauses that were added."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left: dict[int, tuple[ValueSet, int]] = {}

    def add(self, key: int, values: ValueSet, w: int) -> None:
        """One more clause over a variable of width w."""
        known = self.left.get(key)
        self.left[key] = (values if known is None else intersect(known[0], values)), w

    def restricted(self) -> Iterable[tuple[int, ValueSet, Cube | None]]:
        """The variables that cannot have all values, with the set, and with the cube that it is, if so."""
        for key, (values, w) in self.left.items():
            if not values:
                raise Infeasible
            if values != full_set(w):
                yield key, values, as_cube(values)


def as_cube(values: ValueSet) -> Cube | None:
    """The cube with exactly these values."""
    if isinstance(values, int):
        low, ones, zeros, count = values, 0, -1, 0
        while low:
            v = (low & -low).bit_length() - 1
            ones, zeros, count = ones | v, zeros & v, count + 1
            low &= low - 1
        free = ones & ~zeros
        return (zeros & ones, free) if count and count == 1 << free.bit_count() else None
    if len(values) != 1:
        return None
    lo, hi = values[0]
    size = hi - lo + 1
    return (lo, size - 1) if size & (size - 1) == 0 and lo & (size - 1) == 0 else None

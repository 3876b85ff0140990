"""Operands that must be numbers and have many values: sizes of objects, lengths of blocks.

Up to `FEW` values are taken one by one, a path each. Of more, some stand for all: the smallest ones, the
largest up to a limit, and a few between. The others are a loss, counted at the location.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, expr_vars
from anabranch.machine.undefined import has_undefined
from anabranch.solver import SolverUnknown

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine
    from anabranch.solver import Slice

Value = Any
FEW = 16
LARGEST_TAKEN = 1 << 22  # a loop over as many bytes still comes to its end


class Choices:
    """Values of symbolic operands, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def are_few(self, value: Expr) -> bool:
        """Can the values of an operand be taken one by one?"""
        if has_undefined(value) or self.machine.few_values(value, FEW) is not None:
            return True
        try:
            return self.machine.space.values(self._parts(value), value, FEW).complete
        except SolverUnknown:
            return True  # every decision on it says so, and counts what is lost

    def size(self, value: Value, width: int, what: str, unit: int = 1, most: int = LARGEST_TAKEN) -> int:
        """One of the values of a size, counted in units of so many bytes, if there are many one of at most
        `most` bytes; siblings take others. May fork."""
        machine = self.machine
        if value.__class__ is Expr and not self._one_by_one(value):
            try:
                taken = machine.space.representatives(self._parts(value), value, most // unit)
            except SolverUnknown:
                return machine.pick(value, width, what)
            machine.lose(f"{what}: some of many values explored")
            some: Value = False
            for number in taken:
                some = expr.or_(some, expr.eq(value, number, width), 1)
            machine.assume(some)
        return machine.pick(value, width, what)

    def _one_by_one(self, value: Expr) -> bool:
        """Is there a path for each value? Also for as many as an object whose size depends on the input may
        have bytes: the lengths that fit into it."""
        return (
            self.are_few(value) or self.machine.range_of(value, value.w)[1] <= self.machine.extents.capacity
        )

    def _parts(self, value: Expr) -> list[Slice]:
        slices = self.machine.path.slices
        return list(dict.fromkeys(slices[i] for i in expr_vars(value) if i >= 0))

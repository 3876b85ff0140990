"""Operands that must be numbers and have many values: sizes of objects, lengths of blocks.

Up to `FEW` values are taken one by one, a path each. Of more, some stand for all: the smallest ones, the
largest up to a limit, and a few between. The others are a loss, counted at the location.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, expr_vars
from anabranch.machine.objects import OBJECT_SHIFT, OFFSET_MASK
from anabranch.machine.undefined import has_undefined
from anabranch.solver import SolverUnknown

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine
    from anabranch.solver import Slice

Value = Any
FEW = 16
LARGEST_TAKEN = 1 << 22  # a loop over as many bytes still comes to its end
MAX_CONDITIONAL = 1 << 12  # bytes of a block that are written under a condition each


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
        if value.__class__ is Expr and not self.are_few(value):
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

    def conditional(self, length: Value, room: int, to: int, source: int | None = None) -> int | None:
        """How many bytes a block has at most whose bytes are to be written under a condition each, because
        its length has many values; None if the length is to be a number.

        Of a source whose extent depends on the input, the path now implies that the block lies within it.
        """
        if length.__class__ is not Expr or self.are_few(length):
            return None
        if room > MAX_CONDITIONAL:
            room = min(room, self.machine.bounds(length, length.w)[1])
        memory = self.machine.memory
        written = memory.find(to >> OBJECT_SHIFT)
        if room > MAX_CONDITIONAL or (written is not None and written.extent is not None):
            return None
        read = memory.find(source >> OBJECT_SHIFT) if source is not None else None
        if source is not None and read is not None and read.extent is not None:
            end = expr.add(expr.zext(length, length.w, 64), source & OFFSET_MASK, 64)
            memory.require(read, end, memory.access_info(source, room, False, read))
        return room

    def _parts(self, value: Expr) -> list[Slice]:
        slices = self.machine.path.slices
        return list(dict.fromkeys(slices[i] for i in expr_vars(value) if i >= 0))


def up_to(length: Expr, new: Any, old: Any) -> list[Value]:
    """The bytes of a block of which the first `length` are new."""
    return [
        expr.ite(expr.ugt(length, index, length.w), byte, before, 8)
        for index, (byte, before) in enumerate(zip(new, old, strict=True))
    ]

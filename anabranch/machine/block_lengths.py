"""Blocks of symbolic length: whether they fit into their objects, and how they are written.

A block that is longer than what is left of its object is an error; the path goes on with the lengths that
fit. Where these are many, or where an object has as many bytes as the input says, each byte is written under
the condition that the block reaches it. A block of no bytes is no access, whatever it is a block of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.extents import SizeExtent
from anabranch.machine.objects import OBJECT_SHIFT, OFFSET_MASK
from anabranch.semantics.addresses import MASK64

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
MAX_CONDITIONAL = 1 << 12  # bytes of a block that are written under a condition each


class BlockLengths:
    """Lengths of blocks, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory

    def room(self, length: Expr, blocks: Sequence[tuple[Value, bool]]) -> int:
        """How many bytes blocks `(address, is written)` of symbolic length can have at most; the path now
        implies that they fit, as far as their addresses are known. 0 if they are empty."""
        most = MASK64
        for address, write in blocks:
            if address.__class__ is Expr:
                if not expr.ne(length, 0, length.w):
                    return 0
                most = min(most, self.machine.addresses.resolve(address, 1, write)[0].size)
            else:
                most = min(most, self._check(length, address, write))
        return most

    def _check(self, length: Expr, address: int, write: bool) -> int:
        """Check one block at a known address; the bytes from there to the end of its object."""
        memory, offset = self.memory, address & OFFSET_MASK
        info = memory.find(address >> OBJECT_SHIFT)
        if info is not None and memory.widen is not None and not info.end:
            info = memory.widen(info)
        if info is None or info.end or offset >= info.size or (write and info.readonly):
            self.machine.check(expr.ne(length, 0, length.w), self._wrong_access(address, write))
            return 0
        outside = self.machine.extents.block_outside(info, offset, length)
        if memory.may_be_larger(info) and outside:
            memory.check_supposed(info, write)
            outside = True
        details = memory.access_info(address, 1, write, info)
        details["access"] = f"{'write' if write else 'read'} of a block"
        details["length"] = length
        fault = Fault("out-of-bounds", "memory error: out of bound pointer", details)
        self.machine.check(outside, fault)
        return info.size - offset

    def _wrong_access(self, address: int, write: bool) -> Fault:
        """The error of an access to an address where there is nothing to access."""
        try:
            self.memory.check_access(address, 1, write)
        except ProgramError as error:
            return error.fault
        raise AssertionError("an access that is no error")

    def conditional(self, length: Value, room: int, to: int, source: int | None = None) -> int | None:
        """How many bytes a block of such room has at most whose bytes are to be written under a condition
        each; None if its length is to be a number."""
        if length.__class__ is not Expr:
            return None
        sized = self._is_sized(to) or (source is not None and self._is_sized(source))
        if not sized and self.machine.choices.are_few(length):
            return None
        if room > MAX_CONDITIONAL:
            room = min(room, self.machine.bounds(length, length.w)[1])
        return None if room > MAX_CONDITIONAL else room

    def _is_sized(self, address: int) -> bool:
        info = self.memory.find(address >> OBJECT_SHIFT)
        return info is not None and isinstance(info.extent, SizeExtent)

    def write(self, to: int, data: Sequence[Value], length: Expr) -> None:
        """Overwrite the first `length` bytes of a block that is known to fit."""
        before = self.memory.contents(to, len(data))
        self.memory.overwrite(to, up_to(length, data, before))


def up_to(length: Value, new: Sequence[Value], old: Sequence[Value]) -> list[Value]:
    """The bytes of a block of which the first `length` are new."""
    width = length.w if length.__class__ is Expr else 64
    return [
        expr.ite(expr.ugt(length, index, width), byte, before, 8)
        for index, (byte, before) in enumerate(zip(new, old, strict=True))
    ]

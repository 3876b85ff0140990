"""Loads and stores through symbolic addresses, once it is known to which object they lead.

A read becomes a balanced tree of `ite` over runs of equal values, a write an `ite` on every byte it may hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, split_value
from anabranch.expr.tables import read_table
from anabranch.ir.types import to_signed
from anabranch.machine.address_targets import AddressTargets
from anabranch.machine.ends import Loss
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.pages import PAGE_BITS

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
MAX_LEAVES = 1 << 16  # offsets a read may choose from before the path forks over halves
MAX_TARGETS = 1 << 11  # likewise for a write, which touches every one of them
MAX_SPREAD = 1 << 22  # offsets in a sparse object that the path forks over
MAX_CHOICES = 1 << 18  # bytes of a block at all the offsets where it may be written
FEW = 64  # offsets that are told one by one
WORD = 8  # bytes that a block is chosen in at a time


def stride(offset: Expr) -> tuple[int, int]:
    """`(step, rest)`: the offset is always `rest` modulo `step`."""
    rest = 0
    node = offset
    if node.op == "add" and node.b.__class__ is int:
        rest = to_signed(node.b, 64)
        node = node.a
    if node.op == "mul" and node.b.__class__ is int:
        step = node.b & -node.b if node.b >= 1 << 32 else node.b
        # A product may wrap around, but only by a multiple of the power of two in it.
        if node.a.op in ("zext", "sext") and node.b < 1 << 31 and node.a.a.w <= 32:
            return step, rest % step
        step = node.b & -node.b
        return step, rest % step
    if node.op == "shl" and node.b.__class__ is int:
        step = 1 << min(node.b, 12)
        return step, rest % step
    if node.op == "concat" and node.b.__class__ is int and node.b == 0:
        step = 1 << min(node.w - node.a.w, 12)
        return step, rest % step
    return 1, 0


class AddressResolver(AddressTargets):
    """Loads and stores through symbolic addresses, for one machine."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._constant_reads: dict[tuple[Any, ...], Value] = {}

    def forget_symbolic(self) -> None:
        """Drop what is remembered of reads from constant objects."""
        self._constant_reads.clear()

    def offsets(self, info: ObjectInfo, offset: Expr, size: int, most: int) -> Sequence[int]:
        """The offsets that an access may have, at most `most`; forks over halves while there are more. Of the
        many in a very large object some stand for all, and the others are a loss."""
        few = self.machine.few_values(offset, FEW)
        if few is not None:
            return sorted(at for at in few if at <= info.size - size)
        low, high = self._span(info, offset, size)
        step, rest = stride(offset)
        if info.blank is not None and (high - low) // step > MAX_SPREAD:
            return (self.machine.choices.size(offset, 64, "offset in a very large object", most=info.size),)
        while (high - low) // step > most:
            middle = (low + high) // 2
            if expr.ult(offset, middle, 64):
                high = middle
            else:
                low = middle
        start = low + (rest - low) % step
        return range(start, high, step)

    def _span(self, info: ObjectInfo, offset: Expr, size: int) -> tuple[int, int]:
        """The offsets that an access may have lie from the first of these on and before the second."""
        first, last = self.machine.range_of(offset, 64)
        return max(0, first), min(info.size - size, last) + 1

    def load(self, address: Value, size: int) -> Value:
        address = self.defined(address)
        if address.__class__ is int:
            return self.memory.load(address, size)
        info, offset = self.resolve(address, size, write=False)
        if offset.__class__ is int:
            return self.memory.load(info.base + offset, size)
        if self._has_many_offsets(info, offset, size):
            return self._load_sparse(info, offset, size)
        offsets = self.offsets(info, offset, size, MAX_LEAVES)
        if not offsets:
            raise RuntimeError("an access in bounds has no offset")
        key = (info.id, offset, size, offsets[0], offsets[-1], len(offsets))
        if info.readonly and key in self._constant_reads:
            return self._constant_reads[key]
        data = self.memory.contents(info.base + offsets[0], offsets[-1] - offsets[0] + size)
        value = read_table(data, offsets, size, offset)
        if info.readonly:
            self._constant_reads[key] = value
        return value

    def _has_many_offsets(self, info: ObjectInfo, offset: Expr, size: int) -> bool:
        """Is it a sparse object, in which an access may have more offsets than are told one by one?"""
        if info.blank is None:
            return False
        low, high = self._span(info, offset, size)
        return (high - low) // stride(offset)[0] > MAX_LEAVES

    def _load_sparse(self, info: ObjectInfo, offset: Expr, size: int) -> Value:
        """What is read from a sparse object at any of many offsets: only those near pages that are there need
        to be told apart."""
        low, high = self._span(info, offset, size)
        step, rest = stride(offset)
        few = self.machine.few_values(offset, FEW)
        if few is not None:
            offsets: Sequence[int] = sorted(at for at in few if at <= info.size - size)
            found = [(at, self.memory.load(info.base + at, size)) for at in offsets]
        else:
            found = self._read_ranges(info, offset, size, range(low + (rest - low) % step, high, step))
        value = found[-1][1]
        for (_, before), (start, _) in zip(found[-2::-1], found[:0:-1], strict=True):
            value = expr.ite(expr.ult(offset, start, 64), before, value, 8 * size)
        return value

    def _read_ranges(
        self, info: ObjectInfo, offset: Expr, size: int, offsets: range
    ) -> list[tuple[int, Value]]:
        """What is read from a sparse object, by the first of the offsets where it is read. Forks over halves
        while too many of them are near pages that are there."""
        near = self._near_written(info, offsets, size)
        while sum(map(len, near)) > MAX_LEAVES:
            middle = offsets[len(offsets) // 2]
            if expr.ult(offset, middle, 64):
                offsets = range(offsets.start, middle, offsets.step)
            else:
                offsets = range(middle, offsets.stop, offsets.step)
            near = self._near_written(info, offsets, size)
        found: list[tuple[int, Value]] = []
        end = offsets.start
        for part in (*near, range(offsets.stop, offsets.stop)):
            if end < part.start:
                found.append((end, self.memory.load(info.base + end, size)))
            if part:
                data = self.memory.contents(info.base + part[0], part[-1] - part[0] + size)
                found.append((part[0], read_table(data, part, size, offset)))
            end = part.stop
        return found

    def _near_written(self, info: ObjectInfo, offsets: range, size: int) -> list[range]:
        """Those offsets at which an access touches a page that is there, or pages of different contents."""
        assert info.blank is not None
        edges = [(end << PAGE_BITS, end << PAGE_BITS) for end, _ in info.blank[:-1]]
        found: list[range] = []
        step = offsets.step
        for first, end in sorted(self.memory.written(info, offsets.start, offsets[-1] + size) + edges):
            low, high = max(offsets.start, first - size + 1), min(offsets.stop, end)
            low += (offsets.start - low) % step
            high += (offsets.start - high) % step
            if found and low <= found[-1].stop:
                low, high = found[-1].start, max(high, found.pop().stop)
            if low < high:
                found.append(range(low, high, step))
        return found

    def store(self, address: Value, size: int, value: Value) -> None:
        self.write_bytes(address, split_value(value, size))

    def read_bytes(self, address: Value, size: int) -> list[Value]:
        """A block of bytes, resolved as a whole."""
        address = self.defined(address)
        if address.__class__ is int:
            return self.memory.read_bytes(address, size)
        info, offset = self.resolve(address, size, write=False)
        if offset.__class__ is int:
            return self.memory.read_bytes(info.base + offset, size)
        words = [(start, min(WORD, size - start)) for start in range(0, size, WORD)]
        block: list[Value] = []
        if self._has_many_offsets(info, offset, size):
            for start, count in words:
                block += split_value(self._load_sparse(info, expr.add(offset, start, 64), count), count)
            return block
        offsets = self.offsets(info, offset, size, MAX_LEAVES)
        data = self.memory.contents(info.base + offsets[0], offsets[-1] - offsets[0] + size)
        for start, count in words:
            block += split_value(read_table(data[start:], offsets, count, offset), count)
        return block

    def write_bytes(self, address: Value, parts: Sequence[Value]) -> None:
        """Overwrite a block of bytes, resolved as a whole."""
        address = self.defined(address)
        if address.__class__ is int:
            self.memory.write_bytes(address, parts)
            return
        size = len(parts)
        info, offset = self.resolve(address, size, write=True)
        if offset.__class__ is int:
            self.memory.write_bytes(info.base + offset, parts)
            return
        offsets = self.offsets(info, offset, size, MAX_TARGETS)
        if size * len(offsets) > MAX_CHOICES:
            raise Loss("unsupported", "block of bytes written to any of many offsets")
        if info.blank is not None and offsets[-1] - offsets[0] > MAX_LEAVES:
            for at in offsets:
                old = self.memory.contents(info.base + at, size)
                here = expr.eq(offset, at, 64)
                parted = [expr.ite(here, part, before, 8) for part, before in zip(parts, old, strict=True)]
                self.memory.overwrite(info.base + at, parted)
            return
        base = info.base + offsets[0]
        data = self.memory.contents(base, offsets[-1] - offsets[0] + size)
        for at in offsets:
            here = expr.eq(offset, at, 64)
            start = at - offsets[0]
            for index, part in enumerate(parts):
                data[start + index] = expr.ite(here, part, data[start + index], 8)
        self.memory.overwrite(base, data)

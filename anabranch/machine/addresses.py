"""Accesses through symbolic addresses.

An address is resolved to one object by its base first: the constant part of the sum carries the object's
number, so `table + index` names its object without the solver. Where paths were merged, there is a choice
between bases: the path forks over the objects that they name, and each base that is wrong is an error of
its own kind, as it would be on the path that it came from. Where no base is found, the model of the path says
which object the address can mean, and the path forks over the possibilities. Within the object, a read
becomes a balanced tree of `ite` over runs of equal values, a write an `ite` on every byte it may hit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, expr_vars, split_value
from anabranch.expr.tables import read_table
from anabranch.ir.types import to_signed
from anabranch.machine.bases import (
    Cases,
    base_numbers,
    cases_by_base,
    is_made_of_constants,
    narrowed,
    number_of,
    with_whole_choices,
)
from anabranch.machine.ends import Fault, Loss, ProgramError
from anabranch.machine.objects import NEAR, ObjectInfo
from anabranch.machine.pages import PAGE_BITS
from anabranch.machine.undefined import settled
from anabranch.semantics.addresses import MASK64

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
MAX_LEAVES = 1 << 16  # offsets a read may choose from before the path forks over halves
MAX_TARGETS = 1 << 11  # likewise for a write, which touches every one of them
MAX_SPREAD = 1 << 22  # offsets in a sparse object that the path forks over
MAX_CHOICES = 1 << 18  # bytes of a block at all the offsets where it may be written
FEW = 64  # offsets that are told one by one
MAX_KINDS = 16  # errors through an address without a base that are told apart
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


class AddressResolver:
    """Loads and stores through symbolic addresses, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory
        self._constant_reads: dict[tuple[Any, ...], Value] = {}
        self.resolved = 0
        """How many accesses had a symbolic address."""
        self.strict = False
        """Null is an error at any index, and so is a number that no object's address went into: where
        pointers are unknown, no caller can mean an index that leads from one object to another."""

    def forget_symbolic(self) -> None:
        """Drop what is remembered of reads from constant objects."""
        self._constant_reads.clear()

    # ---- which object --------------------------------------------------------------------------------

    def resolve(self, address: Expr, size: int, write: bool) -> tuple[ObjectInfo, Value]:
        """The object of an access of `size` bytes and the offset in it; the path now implies that it fits."""
        self.resolved += 1
        numbers = base_numbers(address)
        if numbers is not None and len(numbers) == 1:
            info = self.named(numbers[0], address)
            if info is not None:
                return self._in_bounds(address, size, write, info)
        whole = with_whole_choices(address)
        cases = cases_by_base(whole) if whole.__class__ is Expr else None
        if cases is not None and len(cases) > 1:
            return self._by_cases(whole, size, write, cases)
        if cases is not None and (info := self.named(next(iter(cases)), whole)) is not None:
            return self._in_bounds(whole, size, write, info)
        return self._by_model(whole, size, write)

    def named(self, number: int, address: Value) -> ObjectInfo | None:
        """The object that the constant part of an address names, if the address can be near it. A number that
        was read from many digits (`n = 10 * n + c - '0'`) leaves a constant part that is gigabytes below."""
        info = self.memory.named(number)
        if info is None or address.__class__ is not Expr:
            return info
        low, high = self.machine.range_of(expr.sub(address, info.base, 64), 64)
        return info if low < max(NEAR, info.size) or high > MASK64 - NEAR else None

    def _by_cases(self, address: Expr, size: int, write: bool, cases: Cases) -> tuple[ObjectInfo, Value]:
        """An address with several bases: those that fail at any index are reported, each as what it is; the
        path forks over the others."""
        others: list[tuple[int, Value]] = []
        fault: Fault | None = None
        for number, condition in sorted(cases.items()):
            fault = self._fault_of_base(number, narrowed(address, number), size, write)
            if fault is None:
                others.append((number, condition))
            else:
                self.machine.check(condition, fault)
        if not others:
            assert fault is not None
            raise ProgramError(fault)  # the conditions leave nothing else
        number = next((n for n, condition in others[:-1] if condition), others[-1][0])
        taken = narrowed(address, number)
        info = self.named(number, taken)
        if info is not None:
            return self._in_bounds(taken, size, write, info)
        return self._by_model(taken, size, write)

    def _fault_of_base(self, number: int, address: Value, size: int, write: bool) -> Fault | None:
        """The error that an access with this base is, whatever the index; None if there may be none."""
        info = self.named(number, address)
        if info is not None and info.end:
            details = self.memory.access_info(address, size, write, info)
            return Fault("use-after-free", "memory error: use after free", details)
        if info is None and address.__class__ is int:
            return self.memory.fault_of(address, size, write)
        return None

    def _defined(self, address: Expr) -> Value:
        """The address as far as it is known, without uninitialised data if that has no influence on it."""
        address = self.machine.knowledge.settled(address)
        if address.__class__ is not Expr:
            return address
        indices = expr_vars(address)
        if not indices or indices[0] >= 0:
            return address
        known = settled(self.machine, address)
        if known is None:
            raise ProgramError(
                Fault("uninitialised", "use of uninitialised memory as an address", {"address": address})
            )
        return known

    def _in_bounds(self, address: Expr, size: int, write: bool, info: ObjectInfo) -> tuple[ObjectInfo, Value]:
        """The address is based on this object: anything outside of it is an error."""
        if self.memory.widen is not None:
            info = self.memory.widen(info)
        details = self.memory.access_info(address, size, write, info)
        if info.end:
            raise ProgramError(Fault("use-after-free", "memory error: use after free", details))
        if write and info.readonly:
            raise ProgramError(Fault("read-only", "write to constant memory", details))
        offset = expr.sub(address, info.base, 64)
        if info.size < size:
            raise ProgramError(Fault("out-of-bounds", "memory error: out of bound pointer", details))
        bad = self.machine.extents.outside(info, offset, size)
        self.machine.check(bad, Fault("out-of-bounds", "memory error: out of bound pointer", details))
        return info, offset

    def _inside(self, address: Expr, size: int, info: ObjectInfo) -> bool:
        if info.size < size:
            return False
        offset = expr.sub(address, info.base, 64)
        return bool(expr.ule(offset, info.size - size, 64))

    def _found(self, address: Expr, size: int, write: bool, info: ObjectInfo) -> tuple[ObjectInfo, Value]:
        if write and info.readonly:
            details = self.memory.access_info(address, size, write, info)
            raise ProgramError(Fault("read-only", "write to constant memory", details))
        offset = expr.sub(address, info.base, 64)
        if info.extent is not None:
            details = self.memory.access_info(address, size, write, info)
            bad = self.machine.extents.outside(info, offset, size)
            self.machine.check(bad, Fault("out-of-bounds", "memory error: out of bound pointer", details))
        return info, offset

    def _by_model(self, address: Value, size: int, write: bool) -> tuple[ObjectInfo, Value]:
        """Take the object that the model of the path points to; siblings take the others."""
        if address.__class__ is int:
            return self.memory.check_access(address, size, write), address & 0xFFFFFFFF
        based = is_made_of_constants(address)
        nowhere = self.strict and not based
        for attempt in itertools.count():
            value = self.machine.sample(address, 64)
            info = self.memory.find(value >> 32)
            fits = info is not None and not info.end and (value & 0xFFFFFFFF) + size <= info.size
            if info is not None and fits and not nowhere:
                if self._inside(address, size, info):
                    return self._found(address, size, write, info)
                continue
            valid = False if nowhere else self._some_valid(address, size)
            fault = self._fault_at(value, size, write, based)
            bad = expr.not_(valid)
            if fault.kind == "null-pointer" or (based and attempt < MAX_KINDS):
                # An address with another object number is another error.
                same_number = expr.eq(number_of(address), number_of(value), 32)
                self.machine.check(expr.and_(bad, same_number, 1), fault)
            elif valid is False:
                raise ProgramError(fault)
            else:
                self.machine.check(bad, fault)
        raise AssertionError("an address without a value")

    def _fault_at(self, value: int, size: int, write: bool, based: bool) -> Fault:
        """The error of an access at a value of an address: what lies near it only matters if the address was
        made of those of objects."""
        fault = self.memory.fault_of(value, size, write) if based or not number_of(value) else None
        if fault is not None:
            return fault
        details = self.memory.access_info(value, size, write, None)
        return Fault("wild-pointer", "memory error: wild pointer", details)

    def _some_valid(self, address: Expr, size: int) -> Value:
        """The address hits some live object."""
        condition: Value = False
        for info in self.memory.live_objects():
            if info.size >= size:
                offset = expr.sub(address, info.base, 64)
                condition = expr.or_(condition, expr.ule(offset, info.size - size, 64), 1)
        return condition

    def view(self, address: Expr, reach: int, most: int) -> tuple[int, Value, int, list[Value]] | None:
        """The offsets in one live object that an address may mean, and the bytes there: for models."""
        indices = expr_vars(address)
        if indices and indices[0] < 0:
            return None
        named = [self.named(number, address) for number in base_numbers(address) or ()]
        live = [info for info in named if info is not None and not info.end]
        if len(live) != 1:
            return None
        info = live[0]
        low, high = self.machine.range_of(expr.sub(address, info.base, 64), 64)
        if low > high or high >= 1 << 32:
            low, high = 0, info.size - 1
        high = min(high, info.size - 1)
        if not 0 <= high - low < most:
            return None
        start = info.base + low
        data = self.memory.contents(start, min(high + reach, info.size) - low)
        return start, expr.sub(address, start, 64), high - low + 1, data

    # ---- what is there -------------------------------------------------------------------------------

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
        address = self._defined(address)
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
        address = self._defined(address)
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
        address = self._defined(address)
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

"""Accesses through symbolic addresses.

An address is resolved to one object by its base first: the constant part of the sum carries the object's
number, so `table + index` names its object without the solver. Where that fails, the model of the path
says which object the address can mean, and the path forks over the possibilities. Within the object, a
read becomes a balanced tree of `ite` over runs of equal values, a write an `ite` on every byte it may hit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, expr_vars
from anabranch.expr.variables import postorder_within
from anabranch.machine.arithmetic import to_signed
from anabranch.machine.ends import Fault, Loss, ProgramError
from anabranch.machine.memory import split_value
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.tables import read_table
from anabranch.machine.undefined import settled

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
MAX_LEAVES = 1 << 16  # places a read may choose from before the path forks over halves
MAX_TARGETS = 1 << 11  # likewise for a write, which touches every one of them
MAX_CHOICES = 1 << 18  # bytes of a block at all the places where it may be written
FEW = 64  # places that are told one by one
MAX_PARTS = 512  # of an address that are looked at to find the objects it names
MAX_BASES = 16
SUMS = ("add", "sub")
WORD = 8  # bytes that a block is chosen in at a time


def nearest(constant: int) -> int:
    """The object number that a constant part names; `p[n - 1]` leaves it somewhat below the object."""
    return (constant + (1 << 31)) >> 32 & 0xFFFFFFFF


def base_numbers(address: Expr) -> list[int] | None:
    """Object numbers that the constant parts of an address add up to, through sums, differences and `ite`s; 0
    stands for none. None if there are too many to look at.

    Only whole sums are looked at: in `p + (end - q)` the constant part of `end` names nothing that the
    address is based on.
    """
    order = postorder_within([address], MAX_PARTS, _parts)
    if order is None:
        return None
    numbers: dict[Value, set[int]] = {}
    for node in order:
        if node.op == "ite":
            found = _numbers(node.b, numbers) | _numbers(node.c, numbers)
        elif node.op in SUMS:
            sign = 1 if node.op == "add" else -1
            right = _numbers(node.b, numbers)
            found = {(x + sign * y) & 0xFFFFFFFF for x in _numbers(node.a, numbers) for y in right}
        else:
            found = {0}
        if len(found) > MAX_BASES:
            return None
        numbers[node] = found
    return sorted(numbers[address])


def _parts(e: Expr) -> list[Expr]:
    parts = (e.a, e.b) if e.op in SUMS else (e.b, e.c) if e.op == "ite" else ()
    return [part for part in parts if part.__class__ is Expr]


def _numbers(part: Value, known: dict[Value, set[int]]) -> set[int]:
    return known[part] if part.__class__ is Expr else {nearest(part)}


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
        self.choose_base: Callable[[Expr], Value] | None = None
        """Decides what an address is based on, where more is known of pointers than their value."""

    def forget_symbolic(self) -> None:
        """Drop what is remembered of reads from constant objects."""
        self._constant_reads.clear()

    # ---- which object --------------------------------------------------------------------------------

    def resolve(self, address: Expr, size: int, write: bool) -> tuple[ObjectInfo, Value]:
        """The object of an access of `size` bytes and the offset in it; the path now implies that it fits."""
        self.resolved += 1
        named = [self.memory.find(number) for number in base_numbers(address) or ()]
        candidates = [info for info in named if info is not None]
        if len(candidates) == 1 and len(named) == 1:
            return self._in_bounds(address, size, write, candidates[0])
        for info in candidates:
            if not info.end and self._inside(address, size, info):
                return self._found(address, size, write, info)
        return self._by_model(address, size, write)

    def _defined(self, address: Expr) -> Value:
        """The address as far as it is known, without uninitialised data if that has no influence on it."""
        address = self.machine.knowledge.settled(address)
        if address.__class__ is not Expr:
            return address
        if self.choose_base is not None:
            address = self.choose_base(address)
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
        bad = expr.ugt(offset, info.size - size, 64)
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
        return info, expr.sub(address, info.base, 64)

    def _by_model(self, address: Expr, size: int, write: bool) -> tuple[ObjectInfo, Value]:
        """Take the object that the model of the path points to; siblings take the others."""
        while True:
            value = self.machine.sample(address, 64)
            info = self.memory.find(value >> 32)
            if info is not None and not info.end and (value & 0xFFFFFFFF) + size <= info.size:
                if self._inside(address, size, info):
                    return self._found(address, size, write, info)
                continue
            valid = self._some_valid(address, size)
            details = self.memory.access_info(value, size, write, info)
            null = value >> 32 == 0
            fault = Fault(
                "null-pointer" if null else "wild-pointer",
                f"memory error: {'null pointer dereference' if null else 'wild pointer'}",
                details,
            )
            if valid is False:
                raise ProgramError(fault)
            self.machine.check(expr.not_(valid), fault)

    def _some_valid(self, address: Expr, size: int) -> Value:
        """The address hits some live object."""
        condition: Value = False
        for info in self.memory.live_objects():
            if info.size >= size:
                offset = expr.sub(address, info.base, 64)
                condition = expr.or_(condition, expr.ule(offset, info.size - size, 64), 1)
        return condition

    def view(self, address: Expr, reach: int, most: int) -> tuple[int, Value, int, list[Value]] | None:
        """The places of one live object that an address may mean, and the bytes there: for models."""
        indices = expr_vars(address)
        if indices and indices[0] < 0:
            return None
        named = [self.memory.find(number) for number in base_numbers(address) or ()]
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
        data = self.memory.read_bytes(start, min(high + reach, info.size) - low)
        return start, expr.sub(address, start, 64), high - low + 1, data

    # ---- what is there -------------------------------------------------------------------------------

    def places(self, info: ObjectInfo, offset: Expr, size: int, most: int) -> Sequence[int]:
        """The offsets that an access may have, at most `most`; forks over halves while there are more."""
        few = self.machine.few_values(offset, FEW)
        if few is not None:
            return sorted(place for place in few if place <= info.size - size)
        step, rest = stride(offset)
        low, high = 0, info.size - size + 1
        first, last = self.machine.range_of(offset, 64)
        low, high = max(low, first), min(high, last + 1)
        while (high - low) // step > most:
            middle = (low + high) // 2
            if expr.ult(offset, middle, 64):
                high = middle
            else:
                low = middle
        start = low + (rest - low) % step
        return range(start, high, step)

    def load(self, address: Value, size: int) -> Value:
        address = self._defined(address)
        if address.__class__ is int:
            return self.memory.load(address, size)
        info, offset = self.resolve(address, size, write=False)
        if offset.__class__ is int:
            return self.memory.load(info.base + offset, size)
        places = self.places(info, offset, size, MAX_LEAVES)
        if not places:
            raise RuntimeError("an access in bounds has no place")
        key = (info.id, offset, size, places[0], places[-1], len(places))
        if info.readonly and key in self._constant_reads:
            return self._constant_reads[key]
        data = self.memory.read_bytes(info.base + places[0], places[-1] - places[0] + size)
        value = read_table(data, places, size, offset)
        if info.readonly:
            self._constant_reads[key] = value
        return value

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
        places = self.places(info, offset, size, MAX_LEAVES)
        data = self.memory.read_bytes(info.base + places[0], places[-1] - places[0] + size)
        block: list[Value] = []
        for start in range(0, size, WORD):
            count = min(WORD, size - start)
            block += split_value(read_table(data[start:], places, count, offset), count)
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
        places = self.places(info, offset, size, MAX_TARGETS)
        if size * len(places) > MAX_CHOICES:
            raise Loss("unsupported", f"{size} bytes written to any of {len(places)} places")
        base = info.base + places[0]
        data = self.memory.read_bytes(base, places[-1] - places[0] + size)
        for place in places:
            here = expr.eq(offset, place, 64)
            start = place - places[0]
            for index, part in enumerate(parts):
                data[start + index] = expr.ite(here, part, data[start + index], 8)
        self.memory.write_bytes(base, data)

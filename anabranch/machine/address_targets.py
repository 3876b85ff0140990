"""Which object a symbolic address leads to, and where in it.

An address is resolved to one object by its base first: the constant part of the sum carries the object's
number, so `table + index` names its object without the solver. Where paths were merged, there is a choice
between bases: the path forks over the objects that they name, and each base that is wrong is an error of
its own kind, as it would be on the path that it came from. Where no base is found, the model of the path says
which object the address can mean, and the path forks over the possibilities.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, expr_vars
from anabranch.machine.bases import (
    Cases,
    base_numbers,
    cases_by_base,
    is_made_of_constants,
    narrowed,
    number_of,
    with_whole_choices,
)
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.objects import NEAR, ObjectInfo
from anabranch.machine.undefined import settled
from anabranch.semantics.addresses import MASK64

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
MAX_KINDS = 16  # errors through an address without a base that are told apart


class AddressTargets:
    """Finds the objects of symbolic addresses, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory
        self.resolved = 0
        """How many accesses had a symbolic address."""
        self.strict = False
        """Null is an error at any index, and so is a number that no object's address went into: where
        pointers are unknown, no caller can mean an index that leads from one object to another."""

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

    def defined(self, address: Expr) -> Value:
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
        fault = Fault("out-of-bounds", "memory error: out of bound pointer", details)
        offset = expr.sub(address, info.base, 64)
        if self.memory.may_be_larger(info):
            self._suppose(info, offset, size, write, fault)
        if info.size < size:
            raise ProgramError(fault)
        self.machine.check(self.machine.extents.outside(info, offset, size), fault)
        return info, offset

    def _suppose(self, info: ObjectInfo, offset: Expr, size: int, write: bool, fault: Fault) -> None:
        """Divide the path where an access may be behind the end of an object that may be larger than was
        made of it. Before its start there is nothing, however large it is."""
        beyond = expr.ugt(offset, info.size - size, 64) if info.size >= size else True
        if expr.and_(beyond, expr.ult(offset, 1 << 63, 64), 1):
            self.memory.check_supposed(info, write)
            raise ProgramError(fault)

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

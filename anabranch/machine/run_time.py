"""Run-time functions that translated code and the interpreter share and that belong to no other module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.types import Type, VectorType
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.objects import AllocationSite
from anabranch.machine.undefined import defined
from anabranch.machine.values import load_value, store_value
from anabranch.machine.varargs import Argument, VariableArguments
from anabranch.semantics import conditions
from anabranch.semantics.elements import Value
from anabranch.semantics.operations import updated
from anabranch.semantics.switches import Case, in_case
from anabranch.semantics.vectors import extract_lane, insert_lane

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

STACK = 8 << 20
"""Bytes that the locals of a program may take: what Linux gives it unless told otherwise."""
TOO_LARGE = Fault("stack-overflow", f"stack overflow: a local array of more than {STACK >> 20} MiB")


class RunTime:
    """Frames, variable arguments, atomics, switches."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory
        self._varargs = VariableArguments(machine.memory, machine.numbers)

    def alloca_many(self, site: AllocationSite, count: Value, size: int, width: int) -> int:
        """An alloca whose size is not known at translation; one larger than the stack is an error."""
        most = STACK // max(1, size)
        if most < (1 << width) - 1:
            self.machine.check(expr.ugt(count, most, width), TOO_LARGE)
        extent: Expr | None = None
        if count.__class__ is Expr:
            wanted = expr.mul(expr.zext(count, width, 64), size, 64)
            capacity, extent = self.machine.extents.capacity_of(wanted, "size of a local array")
        else:
            capacity = count * size
        base = self.memory.allocate(site, capacity)
        if extent is not None:
            self.machine.extents.limit(base, extent)
        return base

    def extract_lane(self, vector: tuple[Value, ...], index: Value, type: VectorType, width: int) -> Value:
        self._lane(index, type, width)
        return extract_lane(vector, index, type)

    def insert_lane(
        self, vector: tuple[Value, ...], value: Value, index: Value, type: VectorType, width: int
    ) -> tuple[Value, ...]:
        self._lane(index, type, width)
        return insert_lane(vector, value, index, type)

    def _lane(self, index: Value, type: VectorType, width: int) -> None:
        """An element that a vector does not have is an error where it is asked for."""
        for bad, fault in conditions.lane(index, type, width):
            self.machine.check(bad, fault)

    def stack_restore(self, objects: tuple[int, ...], saved: int) -> tuple[int, ...]:
        self.memory.release_stack(objects[saved:])
        return objects[:saved]

    def copy_argument(self, pointer: Value, site: AllocationSite) -> int:
        """A struct passed by value: the callee's own copy."""
        size = site.type.size
        data = self.read_object(pointer, size)
        address = self.memory.allocate(site, size)
        self.memory.write_bytes(address, data)
        return address

    def read_object(self, pointer: Value, size: int) -> list[Value]:
        if pointer.__class__ is Expr:
            return self.machine.addresses.read_bytes(pointer, size)
        return self.memory.read_bytes(pointer, size)

    def va_start(
        self, va_list: Value, arguments: tuple[Argument, ...], general: int, floating: int, exact: bool
    ) -> tuple[int, ...]:
        """Fill in a `va_list`; structs are read before anything is written."""
        contents = [
            self.read_object(value, type.size) if by_value else None for type, value, by_value in arguments
        ]
        return self._varargs.start(va_list, arguments, contents, general, floating, exact)

    def cmpxchg(self, pointer: Value, expected: Value, new: Value, type: Type) -> tuple[Value, Value]:
        old = load_value(self.memory, pointer, type)
        same = expr.eq(old, expected, type.bits)
        chosen = expr.ite(same, new, old, type.bits) if same.__class__ is Expr else (new if same else old)
        store_value(self.memory, pointer, type, chosen)
        return old, same

    def atomicrmw(self, operation: str, pointer: Value, value: Value, type: Type) -> Value:
        old = load_value(self.memory, pointer, type)
        store_value(self.memory, pointer, type, updated(operation, old, value, type.bits))
        return old

    def choose_case(self, value: Value, cases: list[Case], width: int) -> int:
        """The number of the switch case that a value takes; the default is the last number."""
        for number, case in enumerate(cases):
            if in_case(value, case, width):
                return number
        return len(cases)

    def choose_label(self, value: Value, cases: list[Case]) -> int:
        number = self.choose_case(value, cases, 64)
        if number == len(cases):
            raise ProgramError(Fault("bad-call", "jump to an address that is no label", {"address": value}))
        return number

    def exit_status(self, value: Value) -> Value:
        """What `main` returns."""
        return defined(self.machine, value, "exit status")

    def unreachable(self) -> None:
        raise ProgramError(Fault("unreachable", "reached unreachable code"))

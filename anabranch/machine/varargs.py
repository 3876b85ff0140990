"""Variable arguments as the x86-64 calling convention passes them, so that the code clang writes for
`va_arg` finds them: first six general and eight floating-point registers (saved side by side), then memory.
Reading more than was passed ends there, behind the last argument in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch import expr
from anabranch.analysis.abstract_objects import PASSED
from anabranch.expr import Expr
from anabranch.ir.module import Function
from anabranch.ir.types import FloatType, IntType, PointerType, Type, VectorType
from anabranch.machine.memory import Memory
from anabranch.machine.objects import AllocationSite, ObjectNumbers
from anabranch.machine.values import store_value
from anabranch.semantics.addresses import add_offset
from anabranch.semantics.elements import is_scalar

Value = Any
Argument = tuple[Type, Value, bool]  # type, value (or address), is it a struct in memory?

GENERAL, FLOATING = 6, 8
LIBRARY = "/anabranch/"
"""What the names of the C library's source files begin with."""
SAVE_AREA = 8 * GENERAL + 16 * FLOATING


def registers_of(type: Type) -> tuple[int, int]:
    """General and floating-point registers that an argument needs; none: it is passed in memory."""
    if isinstance(type, FloatType):
        return 0, int(type.bits != 80)  # a long double
    if isinstance(type, VectorType):
        return 0, int(type.bits <= 128)
    if isinstance(type, IntType | PointerType):
        return (1 if type.bits <= 64 else 2 if type.bits <= 128 else 0), 0
    return 0, 0


@dataclass(slots=True)
class Registers:
    """How many registers the arguments of a call have taken so far."""

    general: int = 0
    floating: int = 0

    def take(self, type: Type) -> bool:
        """Does the next argument find as many as it needs?"""
        general, floating = registers_of(type)
        if not general and not floating:
            return False
        if self.general + general > GENERAL or self.floating + floating > FLOATING:
            return False
        self.general += general
        self.floating += floating
        return True


def registers_taken(function: Function) -> tuple[int, int]:
    """General and floating-point registers that the named parameters of a function use."""
    taken = Registers()
    for param, attrs in zip(function.params, function.param_attrs, strict=True):
        if attrs is None or attrs.byval is None:
            taken.take(param.type)
    return taken.general, taken.floating


def reads_what_it_was_passed(function: Function) -> bool:
    """Is it an error if a function reads an argument that was not passed?

    Functions of the library do so on purpose: `fcntl` and `open` read their last argument in any case, and
    use it only if there is one.
    """
    subprogram = function.subprogram
    return subprogram is None or not subprogram.file.startswith(LIBRARY)


class VariableArguments:
    """Lays arguments out and fills in `va_list`s."""

    def __init__(self, memory: Memory, numbers: ObjectNumbers) -> None:
        self.memory = memory
        self._saved: AllocationSite = numbers.new_site("stack", "saved registers", origin=PASSED)
        self._passed: AllocationSite = numbers.new_site("stack", "variable arguments", origin=PASSED)

    def start(
        self,
        va_list: Value,
        arguments: tuple[Argument, ...],
        contents: list[Any],
        general: int,
        floating: int,
        exact: bool,
    ) -> tuple[int, ...]:
        """`va_start` in a function whose named parameters take so many registers; the objects it makes.

        `exact`: an argument that was not passed is not there; otherwise it is uninitialised.
        `contents` holds the bytes of arguments that are structs in memory, by position.
        """
        taken = Registers(general, floating)
        in_registers: list[tuple[Type, Value, int, int]] = []
        in_memory: list[tuple[int, int]] = []
        size = 0
        for position, (type, value, by_value) in enumerate(arguments):
            used = taken.general, taken.floating
            if not by_value and taken.take(type):
                in_registers.append((type, value, *used))
            else:
                size = (size + 15) & ~15 if type.align > 8 else size
                in_memory.append((position, size))
                size += (max(type.size, 1) + 7) & ~7
        # The last argument in a register stands in the last register: `va_arg` goes on in memory behind it,
        # and past the end of what was passed there.
        shift_general = GENERAL - taken.general if exact else 0
        shift_floating = FLOATING - taken.floating if exact else 0
        start_general = 8 * (general + shift_general)
        start_floating = 8 * GENERAL + 16 * (floating + shift_floating)
        saved = self.memory.allocate(self._saved, SAVE_AREA)
        for type, value, used_general, used_floating in in_registers:
            if registers_of(type)[0]:
                self._store(saved + 8 * (used_general + shift_general), type, value)
            else:
                self._store(saved + 8 * GENERAL + 16 * (used_floating + shift_floating), type, value)
        passed = self.memory.allocate(self._passed, size)
        for position, offset in in_memory:
            type, value, by_value = arguments[position]
            if by_value:
                self.memory.write_bytes(passed + offset, contents[position])
            else:
                self._store(passed + offset, type, value)
        self.memory.store(va_list, 4, start_general)
        self.memory.store(add_offset(va_list, 4), 4, start_floating)
        self.memory.store(add_offset(va_list, 8), 8, passed)
        self.memory.store(add_offset(va_list, 16), 8, saved)
        return saved, passed

    def _store(self, address: int, type: Type, value: Value) -> None:
        """A small argument fills its eight bytes."""
        if is_scalar(type) and type.bits <= 64:
            wide = expr.zext(value, type.bits, 64) if value.__class__ is Expr else int(value)
            self.memory.store(address, 8, wide)
        else:
            store_value(self.memory, address, type, value)

"""Variable arguments as the x86-64 calling convention passes them, so that the code clang writes for
`va_arg` finds them: first six general and eight floating-point registers (saved side by side), then memory.
Reading more than was passed ends there, behind the last argument in memory.
"""

from __future__ import annotations

from typing import Any

from anabranch import expr
from anabranch.analysis.abstract_objects import PASSED
from anabranch.expr import Expr
from anabranch.ir.module import Function
from anabranch.ir.types import FloatType, Type
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


def registers_taken(function: Function) -> tuple[int, int]:
    """General and floating-point registers that the named parameters of a function use."""
    general = floating = 0
    for param, attrs in zip(function.params, function.param_attrs, strict=True):
        if attrs is not None and attrs.byval is not None:
            continue
        if isinstance(param.type, FloatType):
            floating += param.type.bits <= 64  # a long double is passed in memory
        else:
            general += 1
    return min(general, GENERAL), min(floating, FLOATING)


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
        in_general: list[int] = []
        in_floating: list[int] = []
        in_memory: list[tuple[int, int]] = []
        size = 0
        for position, (type, _, by_value) in enumerate(arguments):
            single = is_scalar(type) and type.bits <= 64 and not by_value
            if single and isinstance(type, FloatType) and floating + len(in_floating) < FLOATING:
                in_floating.append(position)
            elif single and not isinstance(type, FloatType) and general + len(in_general) < GENERAL:
                in_general.append(position)
            else:
                size = (size + 15) & ~15 if type.align > 8 else size
                in_memory.append((position, size))
                size += (max(type.size, 1) + 7) & ~7
        # The last argument in a register stands in the last register: `va_arg` goes on in memory behind it,
        # and past the end of what was passed there.
        if exact:
            general, floating = GENERAL - len(in_general), FLOATING - len(in_floating)
        first_general, first_floating = 8 * general, 8 * GENERAL + 16 * floating
        saved = self.memory.allocate(self._saved, SAVE_AREA)
        for number, position in enumerate(in_general):
            self._store(saved + first_general + 8 * number, *arguments[position][:2])
        for number, position in enumerate(in_floating):
            self._store(saved + first_floating + 16 * number, *arguments[position][:2])
        passed = self.memory.allocate(self._passed, size)
        for position, offset in in_memory:
            type, value, by_value = arguments[position]
            if by_value:
                self.memory.write_bytes(passed + offset, contents[position])
            elif is_scalar(type) and type.bits <= 64:
                self._store(passed + offset, type, value)
            else:
                store_value(self.memory, passed + offset, type, value)
        self.memory.store(va_list, 4, first_general)
        self.memory.store(add_offset(va_list, 4), 4, first_floating)
        self.memory.store(add_offset(va_list, 8), 8, passed)
        self.memory.store(add_offset(va_list, 16), 8, saved)
        return saved, passed

    def _store(self, address: int, type: Type, value: Value) -> None:
        """An argument fills its eight bytes."""
        wide = expr.zext(value, type.bits, 64) if value.__class__ is Expr else int(value)
        self.memory.store(address, 8, wide)

"""When an operation is an error: conditions on its operands, each with the fault that it is.

A condition is a bool or an Expr; one that is False is usually left out. The conditions of one operation are
in the order in which they are to be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.module import Instruction
from anabranch.ir.types import VectorType
from anabranch.semantics.elements import Value, lane_type
from anabranch.semantics.faults import Fault, Figure
from anabranch.semantics.integers import SHIFTS, signed_overflow

Faults = tuple[tuple[Value, Fault], ...]

DIVISION_BY_ZERO = Fault("division-by-zero", "divide by zero")
DIVISION_OVERFLOW = Fault("overflow", "overflow on division")
OVERSHIFT = Fault("overshift", "overshift error")
OVERFLOW = {
    "add": Fault("overflow", "overflow on addition"),
    "sub": Fault("overflow", "overflow on subtraction"),
    "mul": Fault("overflow", "overflow on multiplication"),
}


def division(a: Value, b: Value, width: int) -> Faults:
    if b.__class__ is Expr:
        return ((expr.eq(b, 0, width), DIVISION_BY_ZERO),)
    return () if b else ((True, DIVISION_BY_ZERO),)


def signed_division(a: Value, b: Value, width: int) -> Faults:
    least, minus_one = 1 << (width - 1), (1 << width) - 1
    if width == 1:
        least, minus_one = True, True
    overflow = expr.and_(expr.eq(a, least, width), expr.eq(b, minus_one, width), 1)
    by_zero = division(a, b, width)
    return by_zero if overflow is False else (*by_zero, (overflow, DIVISION_OVERFLOW))


def shift(a: Value, b: Value, width: int) -> Faults:
    if b.__class__ is Expr:
        return ((expr.uge(b, width, b.w), OVERSHIFT),) if width < 1 << b.w else ()
    return ((True, OVERSHIFT),) if b >= width else ()


def overflow(operation: str, a: Value, b: Value, width: int) -> Faults:
    bad = signed_overflow(operation, a, b, width)
    return () if bad is False else ((bad, OVERFLOW[operation]),)


def lane(index: Value, type: VectorType, width: int) -> Faults:
    """An element that a vector does not have."""
    if (index.__class__ is int and index < type.count) or type.count >= 1 << width:
        return ()
    form = f"element {{0}} of a vector of {type.count}"
    fault = Fault("out-of-bounds", form, {}, (Figure(index, "unsigned", width),))
    return ((expr.uge(index, type.count, width), fault),)


BINARY: dict[str, Callable[[Value, Value, int], Faults]] = {
    "udiv": division,
    "urem": division,
    "sdiv": signed_division,
    "srem": signed_division,
    **dict.fromkeys(sorted(SHIFTS), shift),
    **{f"{name}_nsw": partial(overflow, name) for name in OVERFLOW},
}
"""Operations on two integers that can fail; `_nsw` is the opcode where signed overflow is an error."""


def checked_name(instruction: Instruction, check_overflow: bool) -> str | None:
    """The entry of `BINARY` that an instruction is subject to, if any.

    Code that a sanitizer added (`nosanitize`) computes what it checks, and is no error of its own.
    """
    opcode, flags = instruction.opcode, instruction.flags
    if opcode in OVERFLOW:
        checked = check_overflow and "nsw" in flags and "nosanitize" not in flags
        return f"{opcode}_nsw" if checked else None
    if opcode not in BINARY or (opcode in SHIFTS and "nosanitize" in flags):
        return None
    return opcode


def possible_faults(instruction: Instruction, values: Sequence[Value], check_overflow: bool) -> Faults:
    """The errors that an instruction may be on these operands, memory apart.

    `check_overflow`: is signed overflow of what must not overflow (`nsw`) one of them?
    """
    if instruction.opcode in ("extractelement", "insertelement"):
        vector, index = instruction.operands[0].type, instruction.operands[-1].type
        assert isinstance(vector, VectorType)
        return lane(values[-1], vector, index.bits)
    name = checked_name(instruction, check_overflow)
    if name is None:
        return ()
    a, b = values
    width = lane_type(instruction.type).bits
    if not isinstance(instruction.type, VectorType):
        return BINARY[name](a, b, width)
    return tuple(fault for x, y in zip(a, b, strict=True) for fault in BINARY[name](x, y, width))

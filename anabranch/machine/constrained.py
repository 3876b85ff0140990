"""Floating-point operations of code that watches rounding and exceptions (`#pragma STDC FENV_ACCESS ON`).

Rounding is to nearest and exceptions leave no trace, so that they are the plain operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.ir.module import Instruction
from anabranch.ir.types import Type, VectorType
from anabranch.ir.values import MetadataOperand
from anabranch.machine.operations import cast_function, float_width, scalar_function

PREFIX = "experimental.constrained."
_ARITHMETIC = frozenset(("fadd", "fsub", "fmul", "fdiv", "frem"))
_CASTS = frozenset(("sitofp", "uitofp", "fptosi", "fptoui", "fptrunc", "fpext"))


def plain_operation(operation: str, result: Type, instruction: Instruction) -> Callable[..., Any] | None:
    """The function of arithmetic, comparisons and conversions; None for others."""
    first = instruction.operands[1].type
    source = first.element if isinstance(first, VectorType) else first
    if operation in _ARITHMETIC:
        return scalar_function(operation, float_width(result), None)
    if operation in _CASTS:
        return cast_function(operation, source, result)
    if operation in ("fcmp", "fcmps"):
        named = [o.text for o in instruction.operands if isinstance(o, MetadataOperand)]
        predicate = named[0].strip('!"')
        return scalar_function(f"fcmp_{predicate}", float_width(source), None)
    return None

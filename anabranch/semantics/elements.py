"""The parts of aggregates and vectors, and values of a type that are known from the type alone."""

from __future__ import annotations

from typing import Any

from anabranch.expr import undefined
from anabranch.expr.node import UNDEFINED_REGISTERS
from anabranch.ir.module import Instruction
from anabranch.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType
from anabranch.semantics.faults import Unsupported

Value = Any
"""An int, a bool for one bit, an Expr, or a tuple of values for aggregates and vectors."""

FLOATS = frozenset(("float", "double", "x86_fp80"))
"""Floating-point types with arithmetic."""


def element_types(type: Type) -> tuple[Type, ...]:
    """The parts of an aggregate or vector type."""
    if isinstance(type, StructType):
        return type.fields or ()
    if isinstance(type, ArrayType | VectorType):
        return (type.element,) * type.count
    return ()


def element_offsets(type: Type) -> tuple[int, ...]:
    """Where the parts of an aggregate lie, in bytes."""
    if isinstance(type, StructType):
        return type.offsets
    assert isinstance(type, ArrayType | VectorType)
    return tuple(i * type.element.size for i in range(type.count))


def zero_value(type: Type) -> Value:
    if isinstance(type, ArrayType | VectorType | StructType):
        return tuple(map(zero_value, element_types(type)))
    return False if type.bits == 1 else 0


def undefined_value(type: Type, instance: int = 0) -> Value:
    """A value that was never written; those of different instances need not be equal."""
    if isinstance(type, ArrayType | VectorType | StructType):
        return tuple(undefined_value(part, instance) for part in element_types(type))
    return undefined(type.bits, instance)


def undefined_local(instruction: Instruction) -> Value:
    """What a local that lives in a register holds before it is written."""
    assert instruction.result is not None
    return undefined_value(instruction.type, UNDEFINED_REGISTERS + instruction.result.index)


def is_scalar(type: Type) -> bool:
    """Does a value of this type live in one register as an int, bool or Expr?"""
    return isinstance(type, IntType | PointerType | FloatType)


def lane_type(type: Type) -> Type:
    """What an operation works on: the element of a vector, a scalar itself."""
    return type.element if isinstance(type, VectorType) else type


def float_width(type: Type) -> int:
    """The width of a floating-point type that there is arithmetic for."""
    if not isinstance(type, FloatType) or type.kind not in FLOATS:
        raise Unsupported(f"arithmetic on {type}")
    return type.bits

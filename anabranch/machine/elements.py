"""The parts of aggregates and vectors, and values of a type that are known from the type alone."""

from __future__ import annotations

from typing import Any

from anabranch.expr import undefined
from anabranch.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType

Value = Any  # int | bool | Expr | tuple of values


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
    parts = element_types(type)
    if parts or isinstance(type, ArrayType | VectorType | StructType):
        return tuple(map(zero_value, parts))
    return False if type.bits == 1 else 0


def undefined_value(type: Type) -> Value:
    parts = element_types(type)
    if parts or isinstance(type, ArrayType | VectorType | StructType):
        return tuple(map(undefined_value, parts))
    return undefined(type.bits)


def is_scalar(type: Type) -> bool:
    """Does a value of this type live in one register as an int, bool or Expr?"""
    return isinstance(type, IntType | PointerType | FloatType)

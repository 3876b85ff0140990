"""Values of any type in memory: aggregates and vectors element by element."""

from __future__ import annotations

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.types import ArrayType, StructType, Type, VectorType
from anabranch.machine.memory import Memory
from anabranch.semantics.addresses import add_offset
from anabranch.semantics.elements import Value, element_offsets, element_types
from anabranch.semantics.integers import narrow
from anabranch.semantics.vectors import vector_from_bits, vector_to_bits


def load_value(memory: Memory, address: Value, type: Type) -> Value:
    """Load a value of any first-class type."""
    if isinstance(type, StructType | ArrayType):
        return tuple(
            load_value(memory, add_offset(address, offset), part)
            for offset, part in zip(element_offsets(type), element_types(type), strict=True)
        )
    if isinstance(type, VectorType):
        size = (type.bits + 7) // 8
        return vector_from_bits(memory.load(address, size), 8 * size, type)
    bits = type.bits
    size = (bits + 7) // 8
    value = memory.load(address, size)
    return value if bits == 8 * size else narrow(value, 8 * size, bits)


def store_value(memory: Memory, address: Value, type: Type, value: Value) -> None:
    """Store a value of any first-class type."""
    if isinstance(type, StructType | ArrayType):
        for offset, part, item in zip(element_offsets(type), element_types(type), value, strict=True):
            store_value(memory, add_offset(address, offset), part, item)
        return
    if isinstance(type, VectorType):
        size = (type.bits + 7) // 8
        bits = vector_to_bits(value, type)
        memory.store(address, size, bits if type.bits == 8 * size else expr.zext(bits, type.bits, 8 * size))
        return
    bits = type.bits
    size = (bits + 7) // 8
    if bits != 8 * size:
        value = expr.zext(value, bits, 8 * size) if value.__class__ is Expr else int(value)
    memory.store(address, size, value)

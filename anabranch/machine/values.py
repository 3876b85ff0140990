"""Values of any type in memory: aggregates and vectors element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.types import ArrayType, StructType, Type, VectorType
from anabranch.machine.elements import element_offsets, element_types
from anabranch.machine.memory import Memory

Value = Any


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


def add_offset(address: Value, offset: int) -> Value:
    return expr.add(address, offset, 64) if offset else address


def narrow(value: Value, source: int, target: int) -> Value:
    """Keep the low `target` bits; one bit is a Boolean."""
    if target == 1:
        if value.__class__ is Expr:
            return expr.eq(expr.extract(value, 0, 1, source), True, 1) if source > 1 else value
        return bool(value & 1)
    if value.__class__ is Expr:
        return expr.extract(value, 0, target, source)
    return int(value) & ((1 << target) - 1)


def vector_from_bits(bits: Value, width: int, type: VectorType) -> tuple[Value, ...]:
    """The lanes of a vector held as one number, lane 0 in the low bits."""
    lane = type.element.bits
    if bits.__class__ is Expr:
        lanes = (expr.extract(bits, i * lane, lane, width) for i in range(type.count))
        return tuple(narrow(x, lane, 1) for x in lanes) if lane == 1 else tuple(lanes)
    mask = (1 << lane) - 1
    values = [(int(bits) >> (i * lane)) & mask for i in range(type.count)]
    return tuple(map(bool, values)) if lane == 1 else tuple(values)


def vector_to_bits(lanes: tuple[Value, ...], type: VectorType) -> Value:
    lane = type.element.bits
    value, width = lanes[0], lane
    for item in lanes[1:]:
        value = expr.concat(item, lane, value, width)
        width += lane
    return int(value) if value.__class__ is bool and width > 1 else value


def lanewise(function: Callable[..., Value], *vectors: tuple[Value, ...]) -> tuple[Value, ...]:
    """Apply an operation to the lanes of vectors."""
    return tuple(map(function, *vectors))


def select_value(condition: Value, a: Value, b: Value, type: Type) -> Value:
    """`select` on values of any type; a vector condition chooses lane by lane."""
    if isinstance(condition, tuple):
        assert isinstance(type, VectorType)
        return tuple(select_value(c, x, y, type.element) for c, x, y in zip(condition, a, b, strict=True))
    if condition.__class__ is not Expr:
        return a if condition else b
    if isinstance(a, tuple):
        parts = element_types(type)
        return tuple(select_value(condition, x, y, part) for x, y, part in zip(a, b, parts, strict=True))
    return expr.ite(condition, a, b, type.bits)


def insert_value(aggregate: tuple[Value, ...], value: Value, indices: tuple[int, ...]) -> tuple[Value, ...]:
    head, *rest = indices
    item = insert_value(aggregate[head], value, tuple(rest)) if rest else value
    return (*aggregate[:head], item, *aggregate[head + 1 :])


def extract_value(aggregate: Value, indices: tuple[int, ...]) -> Value:
    for index in indices:
        aggregate = aggregate[index]
    return aggregate


def coerce(value: Value, source: int, target: int) -> Value:
    """Fit a scalar passed with one width to another, as registers do: cut, or widened with zeros."""
    if source == target or isinstance(value, tuple):
        return value
    if target < source:
        return narrow(value, source, target)
    return expr.zext(value, source, target) if value.__class__ is Expr else int(value)


def fit(value: Value, width: int) -> Value:
    """A model's result as the calling code declares it."""
    if value.__class__ is Expr:
        return value if value.w == width else coerce(value, value.w, width)
    if width == 1:
        return bool(value)
    if value.__class__ is tuple:
        return value
    return int(value) & ((1 << width) - 1) if value is not None else expr.undefined(width)


def reinterpret(value: Value, source: Type, wanted: Type) -> Value:
    """`bitcast` where a vector is involved."""
    bits = vector_to_bits(value, source) if isinstance(source, VectorType) else value
    return vector_from_bits(bits, wanted.bits, wanted) if isinstance(wanted, VectorType) else bits


def extract_lane(vector: tuple[Value, ...], index: Value, type: VectorType) -> Value:
    if index.__class__ is not Expr:
        return vector[index] if index < len(vector) else expr.undefined(type.element.bits)
    result = vector[-1]
    for lane in range(len(vector) - 2, -1, -1):
        result = expr.ite(expr.eq(index, lane, index.w), vector[lane], result, type.element.bits)
    return result


def insert_lane(vector: tuple[Value, ...], value: Value, index: Value, type: VectorType) -> tuple[Value, ...]:
    bits = type.element.bits
    if index.__class__ is not Expr:
        if index >= len(vector):
            return (expr.undefined(bits),) * len(vector)
        return (*vector[:index], value, *vector[index + 1 :])
    return tuple(expr.ite(expr.eq(index, lane, index.w), value, old, bits) for lane, old in enumerate(vector))


def shuffle(
    a: tuple[Value, ...], b: tuple[Value, ...], mask: tuple[int, ...], type: VectorType
) -> tuple[Value, ...]:
    both = a + b
    return tuple(both[i] if i >= 0 else expr.undefined(type.element.bits) for i in mask)

"""Values of more than one part: lanes of vectors, elements of aggregates."""

from __future__ import annotations

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.types import Type, VectorType
from anabranch.semantics.elements import Value, element_types
from anabranch.semantics.integers import narrow


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


def reinterpret(value: Value, source: Type, wanted: Type) -> Value:
    """`bitcast` where a vector is involved."""
    bits = vector_to_bits(value, source) if isinstance(source, VectorType) else value
    return vector_from_bits(bits, wanted.bits, wanted) if isinstance(wanted, VectorType) else bits


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

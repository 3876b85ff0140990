"""The table of operations: what an opcode makes of the values of its operands.

An entry takes the instruction (or the constant expression) and the values; `conditions.faults` says on which
values an operation is an error instead. Vectors are worked on lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from anabranch import expr
from anabranch.ir.module import Instruction
from anabranch.ir.types import Type, VectorType
from anabranch.ir.values import ConstAggregate, ConstExpr, ConstInt, Operand
from anabranch.semantics import vectors
from anabranch.semantics.addresses import element_address
from anabranch.semantics.casts import CASTS, cast_value
from anabranch.semantics.elements import Value, float_width, lane_type
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.floats import FLOATING
from anabranch.semantics.integers import EXTREMES, INTEGER, BinaryOperation, boolean


class Operation(Protocol):
    """What instructions and constant expressions have in common."""

    type: Type
    operands: tuple[Operand, ...]
    extra: object


def binary_operation(name: str) -> BinaryOperation:
    """`(a, b, width) -> value` for an opcode, `icmp_<predicate>` or `fcmp_<predicate>`."""
    if name.startswith("icmp_"):
        compare: BinaryOperation = getattr(expr, name[5:])
        return compare
    if name.startswith("fcmp_"):
        return partial(expr.fcmp, name[5:])
    return INTEGER.get(name) or FLOATING[name]


def at_width(operation: BinaryOperation, width: int) -> Callable[[Value, Value], Value]:
    """An operation on two lanes of this width."""
    if width == 1:
        return lambda a, b: boolean(operation(a, b, 1))
    return lambda a, b: operation(a, b, width)


def lanewise(function: Callable[..., Value], *operands: tuple[Value, ...]) -> tuple[Value, ...]:
    """Apply an operation to the lanes of vectors."""
    return tuple(map(function, *operands))


def by_lanes(type: Type, function: Callable[..., Value], *values: Value) -> Value:
    return lanewise(function, *values) if isinstance(type, VectorType) else function(*values)


def _integer(operation: BinaryOperation, node: Operation, a: Value, b: Value) -> Value:
    return by_lanes(node.type, at_width(operation, lane_type(node.type).bits), a, b)


def _floating(operation: BinaryOperation, node: Operation, a: Value, b: Value) -> Value:
    return by_lanes(node.type, at_width(operation, float_width(lane_type(node.type))), a, b)


def _icmp(node: Operation, a: Value, b: Value) -> Value:
    type = node.operands[0].type
    return by_lanes(type, at_width(getattr(expr, str(node.extra)), lane_type(type).bits), a, b)


def _fcmp(node: Operation, a: Value, b: Value) -> Value:
    type = node.operands[0].type
    compare = partial(expr.fcmp, str(node.extra))
    return by_lanes(type, at_width(compare, float_width(lane_type(type))), a, b)


def _fneg(node: Operation, a: Value) -> Value:
    width = float_width(lane_type(node.type))
    return by_lanes(node.type, lambda x: expr.fneg(x, width), a)


def _cast(opcode: str, node: Operation, a: Value) -> Value:
    return cast_value(opcode, node.operands[0].type, node.type, a)


def _getelementptr(node: Operation, base: Value, *indices: Value) -> Value:
    assert isinstance(node.extra, Type)
    return element_address(node.type, node.extra, base, node.operands[1:], indices)


def _shufflevector(node: Operation, a: Value, b: Value, *_: Value) -> Value:
    assert isinstance(node.type, VectorType)
    mask = node.extra if isinstance(node.extra, tuple) else _mask(node.operands[2], node.type.count)
    return vectors.shuffle(a, b, mask, node.type)


def _mask(operand: Operand, count: int) -> tuple[int, ...]:
    """The lanes that a constant shuffle takes; one that is undefined in the mask is -1."""
    if isinstance(operand, ConstAggregate):
        return tuple(lane.value if isinstance(lane, ConstInt) else -1 for lane in operand.elements)
    return (0,) * count  # zeroinitializer


OPERATIONS: dict[str, Callable[..., Value]] = {
    **{name: partial(_integer, operation) for name, operation in INTEGER.items()},
    **{name: partial(_floating, operation) for name, operation in FLOATING.items()},
    **{name: partial(_cast, name) for name in sorted(CASTS)},
    "icmp": _icmp,
    "fcmp": _fcmp,
    "fneg": _fneg,
    "getelementptr": _getelementptr,
    "select": lambda node, c, a, b: vectors.select_value(c, a, b, node.type),
    "freeze": lambda node, a: a,
    "extractvalue": lambda node, a: vectors.extract_value(a, node.extra),
    "insertvalue": lambda node, a, b: vectors.insert_value(a, b, node.extra),
    "extractelement": lambda node, a, b: vectors.extract_lane(a, b, node.operands[0].type),
    "insertelement": lambda node, a, b, c: vectors.insert_lane(a, b, c, node.type),
    "shufflevector": _shufflevector,
}
"""Opcode -> `(instruction, values...) -> value`, for whatever only computes."""


def result(instruction: Instruction, values: Sequence[Value]) -> Value:
    """The value of an instruction that only computes."""
    operation = OPERATIONS.get(instruction.opcode)
    if operation is None:
        raise Unsupported(f"instruction {instruction.opcode}")
    return operation(instruction, *values)


def fold(constant: ConstExpr, values: Sequence[Value]) -> Value:
    """The value of a constant expression."""
    operation = OPERATIONS.get(constant.op)
    if operation is None:
        raise Unsupported(f"constant expression {constant.op}")
    return operation(constant, *values)


def updated(operation: str, old: Value, value: Value, width: int) -> Value:
    """What an `atomicrmw` leaves in memory."""
    if operation == "xchg":
        return value
    if operation == "nand":
        return expr.xor(expr.and_(old, value, width), (1 << width) - 1, width)
    if operation in ("max", "min", "umax", "umin"):
        return EXTREMES[operation if operation[0] == "u" else f"s{operation}"](old, value, width)
    if operation in ("add", "sub", "and", "or", "xor", "fadd", "fsub"):
        return binary_operation(operation)(old, value, width)
    raise Unsupported(f"atomicrmw {operation}")

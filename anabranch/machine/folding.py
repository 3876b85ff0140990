"""Constant expressions: what they are worth, once their operands are known."""

from __future__ import annotations

from typing import Any

from anabranch import expr
from anabranch.ir.types import ArrayType, StructType, Type, VectorType
from anabranch.ir.values import ConstAggregate, ConstExpr, ConstInt, Operand
from anabranch.machine import values
from anabranch.machine.ends import Loss
from anabranch.machine.objects import MASK64
from anabranch.machine.operations import boolean, cast_value

Value = Any  # int | bool | Expr | tuple of values

CASTS = frozenset(("ptrtoint", "inttoptr", "bitcast", "addrspacecast", "ptrtoaddr", "trunc", "zext", "sext"))
BINARY = frozenset(("add", "sub", "mul", "xor", "shl", "lshr", "ashr", "and", "or"))


def fold(constant: ConstExpr, operands: list[Value]) -> Value:
    """The value of a constant expression."""
    op, type = constant.op, constant.type
    source = constant.operands[0].type
    if op == "getelementptr":
        return _address(constant, operands)
    if op in CASTS:
        opcode = {"addrspacecast": "bitcast", "ptrtoaddr": "ptrtoint"}.get(op, op)
        return cast_value(opcode, source, type, operands[0])
    if op == "icmp":
        compare = getattr(expr, str(constant.extra))
        return _by_lanes(lambda a, b: compare(a, b, _scalar(source).bits), source, operands)
    if op in BINARY:
        operation = getattr(expr, {"and": "and_", "or": "or_"}.get(op, op))
        width = _scalar(type).bits
        return _by_lanes(lambda a, b: fitted(operation(a, b, width), width), type, operands)
    if op == "select":
        return values.select_value(operands[0], operands[1], operands[2], type)
    if op == "extractelement" and isinstance(source, VectorType):
        return values.extract_lane(operands[0], operands[1], source)
    if op == "insertelement" and isinstance(type, VectorType):
        return values.insert_lane(operands[0], operands[1], operands[2], type)
    if op == "shufflevector" and isinstance(type, VectorType):
        return values.shuffle(operands[0], operands[1], _mask(constant.operands[2], type.count), type)
    raise Loss("unsupported", f"constant expression {op}")


def fitted(value: Value, width: int) -> Value:
    return boolean(value) if width == 1 else value


def _scalar(type: Type) -> Type:
    return type.element if isinstance(type, VectorType) else type


def _by_lanes(function: Any, type: Type, operands: list[Value]) -> Value:
    return values.lanewise(function, *operands) if isinstance(type, VectorType) else function(*operands)


def _mask(operand: Operand, count: int) -> tuple[int, ...]:
    """The lanes that a shuffle takes; a lane that is undefined in the mask is -1."""
    if isinstance(operand, ConstAggregate):
        return tuple(lane.value if isinstance(lane, ConstInt) else -1 for lane in operand.elements)
    return (0,) * count  # zeroinitializer


def _address(constant: ConstExpr, operands: list[Value]) -> Value:
    if isinstance(constant.type, VectorType):
        raise Loss("unsupported", "getelementptr of vectors")
    indices = []
    for operand, index in zip(constant.operands[1:], operands[1:], strict=True):
        bits = operand.type.bits
        indices.append(index - (1 << bits) if index >> (bits - 1) else index)
    assert isinstance(constant.extra, Type)
    return (operands[0] + gep_offset(constant.extra, indices)) & MASK64


def gep_offset(source: Type, indices: list[int]) -> int:
    """The byte offset of constant indices into `source`, as a signed number."""
    offset, current = indices[0] * source.size, source
    for index in indices[1:]:
        if isinstance(current, StructType):
            assert current.fields is not None
            offset += current.offsets[index]
            current = current.fields[index]
        else:
            assert isinstance(current, ArrayType | VectorType)
            current = current.element
            offset += index * current.size
    return offset

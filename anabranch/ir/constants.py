"""Constants and constant expressions, read from the tokens at a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.ir import types as ty
from anabranch.ir.floats import float_bits
from anabranch.ir.lexer import name_of, string_bytes
from anabranch.ir.types import PTR, FloatType, IntType, PointerType, StructType, Type, VectorType
from anabranch.ir.values import (
    BlockAddress,
    ConstAggregate,
    ConstBytes,
    ConstExpr,
    ConstFloat,
    ConstInt,
    InlineAsm,
    MetadataOperand,
    Null,
    Operand,
    Poison,
    Undef,
    Zero,
)
from anabranch.ir.vocabulary import BINARY, CASTS, FLAGS, VALUE_WORDS

if TYPE_CHECKING:
    from anabranch.ir.operands import Cursor

CLOSERS = {"[": "]", "{": "}", "<": ">"}


def read_constant(c: Cursor, token: str, type: Type) -> Operand:
    """The constant of this type that starts with `token`, just taken; simple ones are kept with the type."""
    constant = _simple_constant(token, type)
    if constant is not None:
        type.constants[token] = constant
        return constant
    return _compound(c, token, type)


def _compound(c: Cursor, token: str, type: Type) -> Operand:
    if token in ("[", "{", "<"):
        return _aggregate(c, token, type)
    if token[:2] == 'c"':
        data = string_bytes(token[2:-1])
        if not isinstance(type, ty.ArrayType) or type.count != len(data) or type.element is not ty.I8:
            raise ValueError(f"string of {len(data)} bytes given for {type}")
        return ConstBytes(type, data)
    if token == "splat" and isinstance(type, VectorType):
        c.expect("(")
        element = c.typed_value()
        c.expect(")")
        _check_type(element, type.element)
        return ConstAggregate(type, (element,) * type.count)
    if token == "asm":
        return _inline_asm(c)
    if token == "blockaddress":
        return _block_address(c)
    if token in ("dso_local_equivalent", "no_cfi"):
        return c.value(type)
    if type is ty.METADATA:
        c.pos -= 1
        return metadata(c)
    if token in VALUE_WORDS:
        constant = _expression(c, token)
        _check_type(constant, type)
        return constant
    raise ValueError(f"'{token}' is not a value of type {type}")


def _aggregate(c: Cursor, opener: str, type: Type) -> Operand:
    packed = opener == "<" and isinstance(type, StructType)
    if packed:
        c.expect("{")
    closer = "}" if packed else CLOSERS[opener]
    elements: list[Operand] = []
    while not c.accept(closer):
        if elements:
            c.expect(",")
        elements.append(c.typed_value())
    if packed:
        c.expect(">")
    if isinstance(type, StructType):
        expected = type.fields or ()
    elif isinstance(type, (ty.ArrayType, VectorType)):
        expected = (type.element,) * type.count if len(elements) == type.count else ()
    else:
        raise ValueError(f"aggregate given for {type}")
    if len(expected) != len(elements):
        raise ValueError(f"{len(elements)} elements given for {type}")
    for element, wanted in zip(elements, expected, strict=True):
        _check_type(element, wanted)
    return ConstAggregate(type, tuple(elements))


def _inline_asm(c: Cursor) -> InlineAsm:
    flags = []
    while c.peek()[:1] != '"':
        flags.append(c.next())
    text = _quoted(c.next())
    c.expect(",")
    return InlineAsm(text, _quoted(c.next()), frozenset(flags))


def _block_address(c: Cursor) -> BlockAddress:
    c.expect("(")
    function = name_of(c.next())
    c.expect(",")
    block = name_of(c.next())
    c.expect(")")
    return BlockAddress(function, block)


def metadata(c: Cursor) -> MetadataOperand:
    """Everything up to the separator after a `metadata` operand."""
    start = c.pos
    while (token := c.tokens[c.pos]) not in (",", ")"):
        if token in ("{", "["):
            c.skip_group()
            continue
        c.pos += 1
        if token[0] == "!" and c.peek() == "(":
            c.skip_group()
    return MetadataOperand(" ".join(c.tokens[start : c.pos]))


def _expression(c: Cursor, op: str) -> ConstExpr:
    extra: object = None
    while c.peek() in FLAGS or c.peek() == "inrange":
        c.next()
        if c.peek() == "(" and c.tokens[c.pos - 1] == "inrange":
            c.skip_group()
    if op in ("icmp", "fcmp"):
        extra = c.next()
    c.expect("(")
    if op == "getelementptr":
        extra = c.type()
        c.expect(",")
    operands = [_expression_operand(c)]
    if op in CASTS:
        c.expect("to")
        result = c.type()
        c.expect(")")
        return ConstExpr(result, op, tuple(operands), None)
    while c.accept(","):
        operands.append(_expression_operand(c))
    c.expect(")")
    return ConstExpr(_expression_type(op, operands), op, tuple(operands), extra)


def _expression_operand(c: Cursor) -> Operand:
    c.accept("inrange")
    return c.typed_value()


def _expression_type(op: str, operands: list[Operand]) -> Type:
    first = operands[0].type
    if op == "getelementptr":
        return gep_type(operands)
    if op in ("icmp", "fcmp"):
        return compare_type(first)
    if op == "select":
        return operands[1].type
    if op == "extractelement" and isinstance(first, VectorType):
        return first.element
    if op == "shufflevector" and isinstance(first, VectorType) and isinstance(operands[2].type, VectorType):
        return ty.vector_type(operands[2].type.count, first.element)
    if op in BINARY or op in ("insertelement", "fneg", "ptrauth"):
        return first
    raise ValueError(f"constant expression '{op}' is not supported")


def gep_type(operands: list[Operand]) -> Type:
    """`ptr`, or a vector of them as soon as one operand is a vector."""
    for operand in operands:
        if isinstance(operand.type, VectorType):
            return ty.vector_type(operand.type.count, PTR)
    return operands[0].type


def compare_type(operand: Type) -> Type:
    return ty.vector_type(operand.count, ty.I1) if isinstance(operand, VectorType) else ty.I1


def element_type(aggregate: Type, indices: tuple[int, ...]) -> Type:
    """Type of a member; ValueError where there is none."""
    for index in indices:
        if isinstance(aggregate, StructType) and aggregate.fields and index < len(aggregate.fields):
            aggregate = aggregate.fields[index]
        elif isinstance(aggregate, ty.ArrayType) and index < aggregate.count:
            aggregate = aggregate.element
        else:
            raise ValueError(f"{aggregate} has no element {index}")
    return aggregate


def _simple_constant(token: str, type: Type) -> Operand | None:
    """A constant of one token, or None."""
    if token == "undef":
        return Undef(type)
    if token == "poison":
        return Poison(type)
    if isinstance(type, IntType):
        return _int_constant(token, type)
    if isinstance(type, FloatType) and (token[-1].isalnum() or token[-1] == "."):
        return ConstFloat(type, float_bits(type, token)) if token not in VALUE_WORDS else None
    if token == "null" and isinstance(type, PointerType):
        return Null(type)
    if token in ("zeroinitializer", "none"):
        return Zero(type)
    return None


def _int_constant(token: str, type: IntType) -> Operand | None:
    if token in ("true", "false"):
        if type.width != 1:
            raise ValueError(f"'{token}' used as {type}")
        return ConstInt(type, int(token == "true"))
    if token == "zeroinitializer":
        return ConstInt(type, 0)
    first = token[0]
    if first.isdigit() or first == "-":
        value = int(token)
        if value.bit_length() > type.width:
            raise ValueError(f"{token} does not fit in {type}")
        return ConstInt(type, value & type.mask)
    if token[:3] in ("u0x", "s0x"):
        return ConstInt(type, int(token[3:], 16) & type.mask)
    return None


def _check_type(operand: Operand, wanted: Type) -> None:
    if operand.type is not wanted:
        raise ValueError(f"value of type {operand.type} where {wanted} is needed")


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != '"':
        raise ValueError(f"expected a string, found '{token}'")
    return string_bytes(token[1:-1]).decode(errors="surrogateescape")

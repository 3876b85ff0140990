"""Operations on scalars by name: what vectors apply lane by lane and the interpreter step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch import expr
from anabranch.ir.types import FloatType, Type, VectorType
from anabranch.machine.ends import Loss
from anabranch.machine.values import lanewise, narrow, reinterpret

Value = Any
BinaryFunction = Callable[[Value, Value], Value]
CastFunction = Callable[[Value], Value]

CHECKED = frozenset(("udiv", "urem", "sdiv", "srem", "shl", "lshr", "ashr"))


def scalar_function(name: str, width: int, arithmetic: Any) -> BinaryFunction:
    """`(a, b) -> value` for an opcode, `icmp_<predicate>` or `fcmp_<predicate>` at a width."""
    if name.startswith("icmp_"):
        compare = getattr(expr, name[5:])
        return lambda a, b: compare(a, b, width)
    if name.startswith("fcmp_"):
        predicate = name[5:]
        return lambda a, b: expr.fcmp(predicate, a, b, width)
    if name in CHECKED or name.endswith("_nsw"):
        checked = getattr(arithmetic, name)
        if width == 1:
            return lambda a, b: boolean(checked(a, b, 1))
        return lambda a, b: checked(a, b, width)
    operation = getattr(expr, {"and": "and_", "or": "or_"}.get(name, name))
    if width == 1:
        return lambda a, b: boolean(operation(a, b, 1))
    return lambda a, b: operation(a, b, width)


def boolean(value: Value) -> Value:
    """Registers hold one-bit values as Booleans."""
    return bool(value) if value.__class__ is int else value


FLOATS = frozenset(("float", "double", "x86_fp80"))
"""Floating-point types with arithmetic."""


def float_width(type: Type) -> int:
    """The width of a floating-point type that there is arithmetic for; a loss for others."""
    if not isinstance(type, FloatType) or type.kind not in FLOATS:
        raise Loss("unsupported", f"arithmetic on {type}")
    return type.bits


def cast_function(opcode: str, source: Type, wanted: Type) -> CastFunction:
    """`value -> value` for a cast between two scalar types."""
    w0, w1 = source.bits, wanted.bits
    if opcode in ("fptrunc", "fpext"):
        f0, f1 = float_width(source), float_width(wanted)
        return lambda x: expr.fp_convert(x, f0, f1)
    if opcode in ("sitofp", "uitofp"):
        convert = expr.si_to_fp if opcode == "sitofp" else expr.ui_to_fp
        f1 = float_width(wanted)
        return lambda x: convert(x, w0, f1)
    if opcode in ("fptosi", "fptoui"):
        back = expr.fp_to_si if opcode == "fptosi" else expr.fp_to_ui
        f0 = float_width(source)
        return lambda x: boolean(back(x, f0, w1)) if w1 == 1 else back(x, f0, w1)
    if opcode in ("ptrtoint", "inttoptr"):
        opcode = "trunc" if w1 < w0 else "zext"
    if w0 == w1:
        return lambda x: x
    if opcode == "trunc":
        return lambda x: narrow(x, w0, w1)
    if opcode == "sext":
        return lambda x: expr.sext(x, w0, w1)
    return lambda x: expr.zext(x, w0, w1)


def cast_value(opcode: str, source: Type, wanted: Type, value: Value) -> Value:
    """A cast between any two types, vectors lane by lane."""
    if isinstance(source, VectorType) or isinstance(wanted, VectorType):
        if opcode == "bitcast":
            return reinterpret(value, source, wanted)
        assert isinstance(source, VectorType) and isinstance(wanted, VectorType)
        return lanewise(cast_function(opcode, source.element, wanted.element), value)
    return cast_function(opcode, source, wanted)(value)

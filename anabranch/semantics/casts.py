"""Casts, and values that are passed with another width than they were declared with."""

from __future__ import annotations

from collections.abc import Callable

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.types import Type, VectorType
from anabranch.semantics.elements import Value, float_width
from anabranch.semantics.integers import boolean, narrow
from anabranch.semantics.vectors import reinterpret

FLOAT_CASTS = frozenset(("fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"))
POINTER_CASTS = frozenset(("ptrtoint", "inttoptr", "bitcast", "addrspacecast", "ptrtoaddr"))
CASTS = FLOAT_CASTS | POINTER_CASTS | {"trunc", "zext", "sext"}


def cast_function(opcode: str, source: Type, wanted: Type) -> Callable[[Value], Value]:
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
    if opcode in POINTER_CASTS:
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
        return tuple(map(cast_function(opcode, source.element, wanted.element), value))
    return cast_function(opcode, source, wanted)(value)


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

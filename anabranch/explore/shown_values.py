"""Values of a path as an error shows them: under the input of its test."""

from __future__ import annotations

import struct
from typing import Any

from anabranch.expr import Expr, evaluate, expr_vars, short_text
from anabranch.machine import Fault, Figure

FLOAT_CODES = {32: "<f", 64: "<d"}
Model = dict[int, int]


def message(fault: Fault, model: Model) -> str:
    """The message with the values that it shows."""
    if not fault.figures:
        return fault.message
    return fault.message.format(*(_figure(figure, model) for figure in fault.figures))


def _figure(figure: Figure, model: Model) -> str:
    value = figure.value
    if value.__class__ is Expr:
        if expr_vars(value)[0] < 0:
            return "an uninitialised value"
        value = evaluate(value, model)
    bits = int(value) & ((1 << figure.width) - 1)
    if figure.form == "float" and figure.width in FLOAT_CODES:
        return repr(struct.unpack(FLOAT_CODES[figure.width], bits.to_bytes(figure.width // 8, "little"))[0])
    if figure.form == "signed" and bits >> (figure.width - 1):
        return str(bits - (1 << figure.width))
    return f"{bits:#x}" if figure.form in ("address", "float") else str(bits)


def argument(value: Any, model: Model) -> str:
    """An argument of a frame: its value, and under which input if it is symbolic."""
    if value is None:
        return "?"
    if value.__class__ is Expr:
        if expr_vars(value)[0] < 0:
            return "uninitialised"
        return f"symbolic, here {_number(int(evaluate(value, model)), value.w)}"
    return _number(value, 64) if value.__class__ is int else str(value)


def detail(name: str, value: Any, model: Model) -> str:
    """A line about an error: the name of what is told, and its value."""
    if value.__class__ is Expr:
        shown = short_text(value)
        if name == "address":
            return f"address: {int(evaluate(value, model)):#x} = {shown}"
        if value.w > 1 and expr_vars(value)[0] >= 0:
            return f"{name}: {_number(int(evaluate(value, model)), value.w)} = {shown}"
        return f"{name}: {shown}"
    return f"{name}: {value:#x}" if name == "address" and isinstance(value, int) else f"{name}: {value}"


def _number(value: int, width: int) -> str:
    """Small numbers in decimal, signed ones too; addresses and the like in hexadecimal."""
    if value < 1 << 16:
        return str(value)
    for bits in (32, 64):
        if width >= bits and (1 << bits) - (1 << 15) <= value < 1 << bits:
            return str(value - (1 << bits))
    return f"{value:#x}"

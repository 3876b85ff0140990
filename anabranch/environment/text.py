"""The output of a path: known bytes, byte expressions, and numbers whose text depends on the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.format import Spec, format_double, format_integer, lay_out_integer
from anabranch.environment.ops import add, extract, ite, ne, neg, slt, udiv, uge, ult, urem
from anabranch.environment.values import flag
from anabranch.expr import Expr


@dataclass(frozen=True, slots=True, eq=False)
class SymbolicText:
    """What a directive prints for a symbolic number: known only under values of the inputs."""

    spec: Spec
    value: Expr

    def render(self, number: int) -> bytes:
        """The text for one value of the number."""
        return format_double(self.spec, number) if self.is_double else format_integer(self.spec, number)

    @property
    def is_double(self) -> bool:
        return self.spec.conversion in "eEfFgGaA"


Item: TypeAlias = bytes | Expr | SymbolicText


def render(items: Iterable[Item], evaluate: Callable[[Expr], int | bool]) -> bytes:
    """The bytes of an output under an evaluation of its expressions."""
    pieces = []
    for item in items:
        if isinstance(item, bytes):
            pieces.append(item)
        elif isinstance(item, SymbolicText):
            pieces.append(item.render(int(evaluate(item.value))))
        else:
            pieces.append(bytes((int(evaluate(item)),)))
    return b"".join(pieces)


def as_items(data: Iterable[Value]) -> list[Item]:
    """Byte values as output items, runs of known bytes concatenated."""
    if isinstance(data, bytes):
        return [data] if data else []
    items: list[Item] = []
    run = bytearray()
    for byte in data:
        if isinstance(byte, Expr):
            if run:
                items.append(bytes(run))
                run = bytearray()
            items.append(byte)
        else:
            run.append(byte)
    if run:
        items.append(bytes(run))
    return items


def most_digits(spec: Spec) -> int:
    """How many digits an argument can have."""
    greatest = 1 << (spec.bits - 1) if spec.is_signed else (1 << spec.bits) - 1
    count = 0
    while greatest:
        greatest //= spec.base
        count += 1
    return count


def text_length(spec: Spec, value: Expr) -> Value:
    """The length of the text of a symbolic integer, as an expression of 32 bits without a branch."""
    width = spec.bits
    magnitude: Value = value
    prefix: Value = 0
    if spec.is_signed:
        negative = slt(value, 0, width)
        magnitude = ite(negative, neg(value, width), value, width)
        prefix = ite(negative, 1, int(bool(spec.flags & {"+", " "})), 32)
    elif spec.base == 16 and ("#" in spec.flags or spec.conversion == "p"):
        prefix = ite(ne(value, 0, width), 2, 0, 32)
    assert spec.precision != "*" and isinstance(spec.width, int)
    least = 1 if spec.precision is None else spec.precision
    if spec.conversion == "p" and spec.precision is not None:
        least = max(least, 16)
    leading_zero = spec.base == 8 and "#" in spec.flags
    total = add(prefix, max(least, 1) if leading_zero else least, 32)
    for count in range(max(least, 1) - 1 if leading_zero else least, most_digits(spec)):
        total = add(total, flag(uge(magnitude, spec.base**count, width)), 32)
    return ite(ult(total, spec.width, 32), spec.width, total, 32)


def spell(m: MachineApi, spec: Spec, value: Expr) -> bytes | list[Value]:
    """The text of a symbolic integer as bytes: decides its sign and how many digits it has."""
    width = spec.bits
    negative = spec.is_signed and m.decide(slt(value, 0, width))
    magnitude = neg(value, width) if negative else value
    count, most = 0, most_digits(spec)
    while count < most and m.decide(uge(magnitude, spec.base**count, width)):
        count += 1
    digits = [_digit(spec, magnitude, place, width) for place in range(count - 1, -1, -1)]
    return lay_out_integer(spec, negative, digits)


def _digit(spec: Spec, magnitude: Value, place: int, width: int) -> Value:
    """One digit's character; the arithmetic is at least a byte wide."""
    digit = extract(urem(udiv(magnitude, spec.base**place, width), spec.base, width), 0, 8, width)
    if spec.base < 16:
        return add(digit, 48, 8)
    letter = 55 if spec.conversion == "X" else 87
    return ite(ult(digit, 10, 8), add(digit, 48, 8), add(digit, letter, 8), 8)

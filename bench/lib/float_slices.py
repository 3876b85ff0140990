"""Floating-point terms for all inputs at once: a list of Python floats, one for each input.

Single precision is rounded after every operation; for + - * / and the square root a result in double
precision rounds to the same single as the exact one does.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable


class Unsupported(Exception):
    """The term holds an operation that is not evaluated here."""


class Floats:
    """The values of a floating-point term; ``single`` tells 32 bits from 64."""

    __slots__ = ("single", "values")

    def __init__(self, values: list[float], single: bool) -> None:
        self.single = single
        self.values = [_single(v) for v in values] if single else values


def _single(value: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def _whole(value: float, mode: str) -> float:
    """Round to an integer, which keeps the sign of zero."""
    if math.isnan(value) or math.isinf(value):
        return value
    rounders: dict[str, Callable[[float], int]] = {
        "RNE": round,
        "RTZ": math.trunc,
        "RTN": math.floor,
        "RTP": math.ceil,
    }
    if mode not in rounders:
        raise Unsupported(mode)
    return math.copysign(float(rounders[mode](value)), value)


BINARY: dict[str, Callable[[float, float], float]] = {
    "fp.add": lambda a, b: a + b,
    "fp.sub": lambda a, b: a - b,
    "fp.mul": lambda a, b: a * b,
    "fp.div": _divide,
}
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "fp.lt": lambda a, b: a < b,
    "fp.leq": lambda a, b: a <= b,
    "fp.gt": lambda a, b: a > b,
    "fp.geq": lambda a, b: a >= b,
    "fp.eq": lambda a, b: a == b,
}
TEST: dict[str, Callable[[float], bool]] = {
    "fp.isNaN": math.isnan,
    "fp.isInfinite": math.isinf,
    "fp.isZero": lambda a: a == 0,
    "fp.isNegative": lambda a: not math.isnan(a) and math.copysign(1, a) < 0,
    "fp.isPositive": lambda a: not math.isnan(a) and math.copysign(1, a) > 0,
}
UNARY: dict[str, Callable[[float], float]] = {"fp.neg": lambda a: -a, "fp.abs": abs}


def table_of(flags: list[bool]) -> int:
    """A truth table out of one flag an input."""
    return int("".join("1" if f else "0" for f in reversed(flags)), 2)


def numbers_of(bits: list[int], count: int) -> list[int]:
    """Unsigned values, one an input, of a bit vector given as tables (low bit first)."""
    columns = [format(table, f"0{count}b") for table in reversed(bits)]
    return [int("".join(column), 2) for column in zip(*columns, strict=True)][::-1]


def signed(values: list[int], width: int) -> list[int]:
    half, whole = 1 << (width - 1), 1 << width
    return [v - whole if v >= half else v for v in values]


def from_bits(patterns: list[int], single: bool) -> Floats:
    size, code = (4, "<f") if single else (8, "<d")
    return Floats([struct.unpack(code, p.to_bytes(size, "little"))[0] for p in patterns], single)


def from_integers(numbers: list[int], single: bool) -> Floats:
    if any(abs(n) >= 1 << 53 for n in numbers):
        raise Unsupported("conversion of a large integer")
    return Floats([float(n) for n in numbers], single)


def to_bits(floats: Floats) -> list[int]:
    """IEEE patterns; NaN is the quiet one of the sign plus."""
    code = "<f" if floats.single else "<d"
    quiet = 0x7FC00000 if floats.single else 0x7FF8000000000000
    return [quiet if math.isnan(v) else int.from_bytes(struct.pack(code, v), "little") for v in floats.values]


def to_integers(floats: Floats, mode: str, width: int) -> list[int]:
    """Integers modulo 2**width; what does not fit is left open by SMT-LIB and is 0 here."""
    out = []
    for value in floats.values:
        whole = _whole(value, mode)
        fits = not math.isnan(whole) and not math.isinf(whole)
        out.append(int(whole) & ((1 << width) - 1) if fits else 0)
    return out


def round_all(floats: Floats, mode: str) -> Floats:
    return Floats([_whole(v, mode) for v in floats.values], floats.single)

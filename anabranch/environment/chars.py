"""ctype.h: classes of characters as expressions without a branch, with the results of musl's functions."""

from __future__ import annotations

import struct
from collections.abc import Callable

from anabranch.analysis.effects import OUTSIDE, PURE, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import Condition, and_, both, either, eq, ite, negated, or_, sub, ult
from anabranch.environment.registry import model
from anabranch.environment.values import flag


def between(char: Value, low: int, high: int) -> Condition:
    """low <= char <= high, as one unsigned comparison."""
    return ult(sub(char, low, 32), high - low + 1, 32)


def is_alpha(c: Value) -> Condition:
    return between(or_(c, 32, 32), 97, 122)


def is_digit(c: Value) -> Condition:
    return between(c, 48, 57)


def is_space(c: Value) -> Condition:
    return either(eq(c, 32, 32), between(c, 9, 13))


def is_upper(c: Value) -> Condition:
    return between(c, 65, 90)


def is_lower(c: Value) -> Condition:
    return between(c, 97, 122)


def is_alnum(c: Value) -> Condition:
    return either(is_alpha(c), is_digit(c))


def is_xdigit(c: Value) -> Condition:
    return either(is_digit(c), between(or_(c, 32, 32), 97, 102))


def is_print(c: Value) -> Condition:
    return between(c, 32, 126)


def is_graph(c: Value) -> Condition:
    return between(c, 33, 126)


def is_punct(c: Value) -> Condition:
    return both(is_graph(c), negated(is_alnum(c)))


def is_cntrl(c: Value) -> Condition:
    return either(ult(c, 32, 32), eq(c, 127, 32))


def is_blank(c: Value) -> Condition:
    return either(eq(c, 32, 32), eq(c, 9, 32))


def is_ascii(c: Value) -> Condition:
    return ult(c, 128, 32)


def to_lower(c: Value) -> Value:
    return ite(is_upper(c), or_(c, 32, 32), c, 32)


def to_upper(c: Value) -> Value:
    return ite(is_lower(c), and_(c, 0x5F, 32), c, 32)


CLASSES: dict[str, Callable[[Value], Condition]] = {
    "isalpha": is_alpha,
    "isdigit": is_digit,
    "isspace": is_space,
    "isupper": is_upper,
    "islower": is_lower,
    "isalnum": is_alnum,
    "isxdigit": is_xdigit,
    "isprint": is_print,
    "isgraph": is_graph,
    "ispunct": is_punct,
    "iscntrl": is_cntrl,
    "isblank": is_blank,
    "isascii": is_ascii,
}


def _register(name: str, test: Callable[[Value], Condition]) -> None:
    @model(name, effects=PURE)
    def classify(m: MachineApi, c: Value) -> Value:
        return flag(test(c))


for _name, _test in CLASSES.items():
    _register(_name, _test)


@model("tolower", effects=PURE)
def tolower(m: MachineApi, c: Value) -> Value:
    return to_lower(c)


@model("toupper", effects=PURE)
def toupper(m: MachineApi, c: Value) -> Value:
    return to_upper(c)


@model("toascii", effects=PURE)
def toascii(m: MachineApi, c: Value) -> Value:
    return and_(c, 0x7F, 32)


# The tables that programs compiled against glibc's headers index with -128 ... 255.
_GLIBC_BITS = (
    ("isupper", 0x0100),
    ("islower", 0x0200),
    ("isalpha", 0x0400),
    ("isdigit", 0x0800),
    ("isxdigit", 0x1000),
    ("isspace", 0x2000),
    ("isprint", 0x4000),
    ("isgraph", 0x8000),
    ("isblank", 0x0001),
    ("iscntrl", 0x0002),
    ("ispunct", 0x0004),
    ("isalnum", 0x0008),
)


def _class_bits(code: int) -> int:
    return sum(bit for name, bit in _GLIBC_BITS if code < 128 and CLASSES[name](code))


def _table(format_: str, entry: Callable[[int], int]) -> bytes:
    """Entries -128 ... 255; the negative ones repeat those of 128 ... 255, except that of EOF."""
    codes = [*range(128, 255), -1, *range(256)]
    return b"".join(struct.pack(format_, entry(code)) for code in codes)


def _table_pointer(m: MachineApi, name: str, table: bytes, entry_size: int) -> int:
    middle = m.static(f"{name} table", table) + 128 * entry_size
    return m.static(name, middle.to_bytes(8, "little"))


TABLE = effects(points=[OUTSIDE])
"""Tables are never written."""


@model("__ctype_b_loc", effects=TABLE)
def ctype_b_loc(m: MachineApi) -> Value:
    return _table_pointer(m, "__ctype_b", _table("<H", lambda c: _class_bits(c) if c >= 0 else 0), 2)


@model("__ctype_tolower_loc", effects=TABLE)
def ctype_tolower_loc(m: MachineApi) -> Value:
    return _table_pointer(m, "__ctype_tolower", _table("<i", lambda c: c + 32 if 65 <= c <= 90 else c), 4)


@model("__ctype_toupper_loc", effects=TABLE)
def ctype_toupper_loc(m: MachineApi) -> Value:
    return _table_pointer(m, "__ctype_toupper", _table("<i", lambda c: c - 32 if 97 <= c <= 122 else c), 4)

"""Numbers in strings, absolute values, pseudo-random numbers: with musl's results."""

from __future__ import annotations

from anabranch.analysis.effects import PURE, Static, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import ByteReader
from anabranch.environment.chars import is_digit, is_space
from anabranch.environment.declared_parts import ERRNO
from anabranch.environment.ops import (
    add,
    both,
    either,
    eq,
    ite,
    lshr,
    mul,
    neg,
    or_,
    slt,
    sub,
    ugt,
    ult,
    zext,
)
from anabranch.environment.registry import model
from anabranch.environment.values import EINVAL, ERANGE, MASK64, is_null, resize, set_errno, widen
from anabranch.expr import Expr
from anabranch.ir.types import to_signed

PLUS, MINUS, ZERO = ord("+"), ord("-"), ord("0")


def skip_space(m: MachineApi, reader: ByteReader) -> int:
    index = 0
    while m.decide(is_space(widen(reader[index]))):
        index += 1
    return index


def read_sign(m: MachineApi, byte: Value) -> tuple[bool, int]:
    """Whether a minus stands there, and how many bytes the sign takes."""
    if m.decide(eq(byte, MINUS, 8)):
        return True, 1
    return False, int(m.decide(eq(byte, PLUS, 8)))


def parse_plain(m: MachineApi, src: Value, width: int) -> Value:
    """atoi and its kin: no error is told, overflow wraps."""
    reader = ByteReader(m, src)
    index = skip_space(m, reader)
    negative, size = read_sign(m, reader[index])
    index += size
    value: Value = 0
    while m.decide(is_digit(widen(reader[index]))):
        digit = sub(widen(reader[index], width), ZERO, width)
        value = add(mul(value, 10, width), digit, width)
        index += 1
    return neg(value, width) if negative else value


@model("atoi", effects=effects(reads=[0]))
def atoi(m: MachineApi, src: Value) -> Value:
    return parse_plain(m, src, 32)


@model("atol", "atoll", effects=effects(reads=[0]))
def atol(m: MachineApi, src: Value) -> Value:
    return parse_plain(m, src, 64)


def read_digit(m: MachineApi, byte: Value, base: int) -> Value | None:
    """The value of a digit in a base, 64 bits wide; None if the byte is none."""
    if not isinstance(byte, Expr):
        value = int(chr(byte), 36) if chr(byte).isascii() and chr(byte).isalnum() else 36
        return value if value < base else None
    code = zext(byte, 8, 64)
    digit = sub(code, ZERO, 64)
    if m.decide(ult(digit, min(base, 10), 64)):
        return digit
    letter = sub(or_(code, 32, 64), ord("a"), 64)
    if base > 10 and m.decide(ult(letter, base - 10, 64)):
        return add(letter, 10, 64)
    return None


def read_digits(m: MachineApi, reader: ByteReader, index: int, base: int) -> tuple[Value, int, bool]:
    """The value of the digits from an index on, where they end, and whether the value overflows 64 bits.

    Overflow is asked for only where the number of digits makes it possible.
    """
    value: Value = 0
    greatest = 0
    overflow = False
    while (digit := read_digit(m, reader[index], base)) is not None:
        index += 1
        if overflow:
            continue
        greatest = greatest * base + base - 1
        if greatest > MASK64:
            greatest = MASK64
            limit = MASK64 // base
            spare = MASK64 - limit * base
            beyond = either(ugt(value, limit, 64), both(eq(value, limit, 64), ugt(digit, spare, 64)))
            if m.decide(beyond):
                overflow = True
                continue
        value = add(mul(value, base, 64), digit, 64)
    return value, index, overflow


def find_base(m: MachineApi, reader: ByteReader, index: int, base: int) -> tuple[int, int]:
    """The base in force and where its digits begin: a prefix counts only if a digit follows."""
    if base not in (0, 16) or not m.decide(eq(reader[index], ZERO, 8)):
        return base or 10, index
    if m.decide(eq(or_(reader[index + 1], 32, 8), ord("x"), 8)):
        if read_digit(m, reader[index + 2], 16) is not None:
            return 16, index + 2
        return base or 8, index
    return base or 8, index


def parse_checked(m: MachineApi, src: Value, end: Value, base: Value, is_signed: bool) -> Value:
    """strtol and its kin, 64 bits wide."""
    radix = m.pick(base, 32, "base of strtol")
    wants_end = not is_null(m, end)
    if radix > 36 or radix == 1:
        return _converted(m, 0, end if wants_end else None, src, EINVAL)
    reader = ByteReader(m, src)
    start = skip_space(m, reader)
    negative, size = read_sign(m, reader[start])
    radix, first = find_base(m, reader, start + size, radix)
    value, index, overflow = read_digits(m, reader, first, radix)
    if index == first:
        return _converted(m, 0, end if wants_end else None, src, EINVAL)
    value, code = _clamped(m, value, overflow, negative, is_signed, index - first, radix)
    return _converted(m, value, end if wants_end else None, reader.at(index), code)


def _clamped(
    m: MachineApi, value: Value, overflow: bool, negative: bool, is_signed: bool, digits: int, radix: int
) -> tuple[Value, int]:
    """The value with its sign, or the nearest limit and ERANGE."""
    if not is_signed:
        return (MASK64, ERANGE) if overflow else (neg(value, 64) if negative else value, 0)
    limit = 1 << 63 if negative else (1 << 63) - 1
    if overflow or (radix**digits > limit and m.decide(ugt(value, limit, 64))):
        return limit, ERANGE
    return neg(value, 64) if negative else value, 0


def _converted(m: MachineApi, value: Value, end: Value | None, stop: Value, code: int) -> Value:
    if end is not None:
        m.store(end, 8, stop)
    if code:
        set_errno(m, code)
    return value


@model(
    "strtol",
    "strtoll",
    "strtoimax",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    effects=effects(reads=[0], writes=[1, ERRNO], puts=[(0, 1)]),
)
def strtol(m: MachineApi, src: Value, end: Value, base: Value) -> Value:
    return parse_checked(m, src, end, base, True)


@model(
    "strtoul",
    "strtoull",
    "strtoumax",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    effects=effects(reads=[0], writes=[1, ERRNO], puts=[(0, 1)]),
)
def strtoul(m: MachineApi, src: Value, end: Value, base: Value) -> Value:
    return parse_checked(m, src, end, base, False)


def absolute(value: Value, width: int) -> Value:
    if not isinstance(value, Expr):
        return abs(to_signed(value, width)) & ((1 << width) - 1)
    return ite(slt(value, 0, width), neg(value, width), value, width)


@model("abs", effects=PURE)
def abs_(m: MachineApi, value: Value) -> Value:
    return absolute(value, 32)


@model("labs", "llabs", "imaxabs", effects=PURE)
def labs(m: MachineApi, value: Value) -> Value:
    return absolute(value, 64)


SEED = Static("rand")


def _seed_address(m: MachineApi) -> int:
    return m.static(SEED.name, bytes(8))


@model("srand", effects=effects(writes=[SEED]))
def srand(m: MachineApi, seed: Value) -> None:
    m.store(_seed_address(m), 8, zext(sub(seed, 1, 32), 32, 64))


@model("rand", effects=effects(reads=[SEED], writes=[SEED]))
def rand(m: MachineApi) -> Value:
    """A 64-bit linear congruential generator, of which 31 bits are seen."""
    m.fixed_answer("rand", "gives the numbers of musl")
    cell = _seed_address(m)
    state = add(mul(m.load(cell, 8), 6364136223846793005, 64), 1, 64)
    m.store(cell, 8, state)
    return resize(lshr(state, 33, 64), 32)

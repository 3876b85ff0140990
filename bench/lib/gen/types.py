"""C integer types and values with known bounds, so that what is generated is free of undefined behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CType:
    name: str
    bits: int
    signed: bool

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - (1 if self.signed else 0))) - 1

    def holds(self, low: int, high: int) -> bool:
        return self.low <= low and high <= self.high


U8, I8 = CType("u8", 8, False), CType("i8", 8, True)
U16, I16 = CType("u16", 16, False), CType("i16", 16, True)
U32, I32 = CType("u32", 32, False), CType("i32", 32, True)
U64, I64 = CType("u64", 64, False), CType("i64", 64, True)
U128, I128 = CType("u128", 128, False), CType("i128", 128, True)

SMALL = (U8, I8, U16, I16, U32, I32)
COMMON = (*SMALL, U64, I64)
UNSIGNED = {8: U8, 16: U16, 32: U32, 64: U64, 128: U128}

TYPEDEFS = """\
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;
typedef __int128 i128;"""


@dataclass(frozen=True)
class Value:
    """An expression's text, its C type, and bounds of what it can be."""

    text: str
    type: CType
    low: int
    high: int


def whole(text: str, ctype: CType) -> Value:
    """A value that can be anything of its type."""
    return Value(text, ctype, ctype.low, ctype.high)


def constant(number: int, ctype: CType) -> Value:
    """A literal of exactly that type."""
    if ctype.bits == 128:
        if I64.holds(number, number):
            return Value(f"(({ctype.name}){constant(number, I64).text})", ctype, number, number)
        high, low = (number >> 64) & ((1 << 64) - 1), number & ((1 << 64) - 1)
        return Value(f"(({ctype.name})(((u128){high}ull << 64) | {low}ull))", ctype, number, number)
    suffix = {(32, False): "u", (64, False): "ull", (64, True): "ll"}.get((ctype.bits, ctype.signed), "")
    if number == ctype.low and ctype.signed and ctype.bits >= 32:
        return Value(f"({number + 1}{suffix} - 1)", ctype, number, number)
    text = f"{number}{suffix}" if number >= 0 else f"({number}{suffix})"
    if ctype.bits < 32:
        text = f"(({ctype.name}){text})"
    return Value(text, ctype, number, number)


def promote(value: Value) -> Value:
    """The integer promotions: what C does to narrow operands."""
    if value.type.bits < 32:
        return Value(value.text, I32, value.low, value.high)
    return value


def convert(value: Value, ctype: CType) -> Value:
    """An explicit cast; out of range it wraps around, as clang defines it."""
    text = f"({ctype.name}){value.text}"
    if ctype.holds(value.low, value.high):
        return Value(f"({text})", ctype, value.low, value.high)
    return whole(f"({text})", ctype)


def common_type(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions, for promoted operands."""
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return b if a.signed else a


def bounds(operator: str, a: Value, b: Value) -> tuple[int, int]:
    """Bounds of the exact (unlimited) result of + - *."""
    if operator == "+":
        return a.low + b.low, a.high + b.high
    if operator == "-":
        return a.low - b.high, a.high - b.low
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(products), max(products)


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """+ - * without undefined behaviour: signed if the bounds prove that it fits, else unsigned."""
    a, b = promote(left), promote(right)
    ctype = common_type(a.type, b.type)
    if ctype.signed:
        low, high = bounds(operator, a, b)
        if ctype.holds(low, high):
            return Value(f"({a.text} {operator} {b.text})", ctype, low, high)
        ctype = UNSIGNED[ctype.bits]
        a, b = convert(a, ctype), convert(b, ctype)
    elif a.low >= 0 and b.low >= 0:
        low, high = bounds(operator, a, b)
        if ctype.holds(low, high):
            return Value(f"({a.text} {operator} {b.text})", ctype, low, high)
    return whole(f"({a.text} {operator} {b.text})", ctype)


def bitwise(operator: str, left: Value, right: Value) -> Value:
    a, b = promote(left), promote(right)
    ctype = common_type(a.type, b.type)
    text = f"({a.text} {operator} {b.text})"
    if a.low >= 0 and b.low >= 0:
        top = max(a.high, b.high)
        high = min(a.high, b.high) if operator == "&" else (1 << top.bit_length()) - 1
        return Value(text, ctype, 0, min(high, ctype.high))
    if operator == "&" and (a.low >= 0 or b.low >= 0) and ctype.signed:
        return Value(text, ctype, 0, a.high if a.low >= 0 else b.high)
    return whole(text, ctype)

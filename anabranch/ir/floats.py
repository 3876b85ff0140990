"""Floating-point constants: every spelling LLVM has, to the bit pattern of the type."""

from __future__ import annotations

import struct

from anabranch.ir.types import FloatType

_EXPONENT_AND_FRACTION = {
    "half": (5, 10),
    "bfloat": (8, 7),
    "float": (8, 23),
    "double": (11, 52),
    "fp128": (15, 112),
}
_TAGGED = {"H": "half", "R": "bfloat", "K": "x86_fp80", "L": "fp128", "M": "ppc_fp128"}


def float_bits(type: FloatType, token: str) -> int:
    """Bits of a constant; ValueError if the token is not a number of this type."""
    if token.startswith("f0x"):
        return _checked(int(token[3:], 16), type.bits)
    if token.startswith("0x"):
        tag = token[2:3]
        if tag in _TAGGED:
            if _TAGGED[tag] != type.kind:
                raise ValueError(f"{token} is not of type {type}")
            return _tagged_bits(tag, token[3:], type.bits)
        double = _checked(int(token[2:], 16), 64)
    else:
        double = struct.unpack("<Q", struct.pack("<d", float(token)))[0]
    return from_double(double, type.kind)


def _checked(bits: int, width: int) -> int:
    if bits >> width:
        raise ValueError("floating-point constant too wide")
    return bits


def _tagged_bits(tag: str, digits: str, width: int) -> int:
    if tag in "LM":
        # The two 64-bit words are printed low word first.
        digits = digits.rjust(32, "0")
        digits = digits[16:] + digits[:16]
    return _checked(int(digits, 16), width)


def from_double(double: int, kind: str) -> int:
    """The double with these bits in another format, rounded to nearest even where it does not fit."""
    if kind == "double":
        return double
    sign, exponent, fraction = double >> 63, double >> 52 & 0x7FF, double & ((1 << 52) - 1)
    if kind == "ppc_fp128":
        return double
    if kind == "x86_fp80":
        return _to_x87(sign, exponent, fraction)
    exponent_bits, fraction_bits = _EXPONENT_AND_FRACTION[kind]
    top = (1 << exponent_bits) - 1
    bias = top >> 1
    high = sign << (exponent_bits + fraction_bits)
    if exponent == 0x7FF:
        shifted = _shift(fraction, fraction_bits - 52)
        return high | top << fraction_bits | (shifted or (1 if fraction else 0))
    exponent, significand = _normalise(exponent, fraction)
    if significand == 0:
        return high
    target = exponent + bias
    drop = 52 - fraction_bits + max(0, 1 - target)
    rounded = _round_shift(significand, drop)
    # A carry out of the significand moves into the exponent by itself, up to infinity.
    bits = rounded + ((max(target, 1) - 1) << fraction_bits)
    return high | min(bits, top << fraction_bits)


def _normalise(exponent: int, fraction: int) -> tuple[int, int]:
    """(unbiased exponent, 53-bit significand) of a finite double."""
    if exponent:
        return exponent - 1023, fraction | 1 << 52
    if fraction == 0:
        return 0, 0
    shift = 53 - fraction.bit_length()
    return -1022 - shift, fraction << shift


def _to_x87(sign: int, exponent: int, fraction: int) -> int:
    if exponent == 0x7FF:
        return sign << 79 | 0x7FFF << 64 | 1 << 63 | fraction << 11
    unbiased, significand = _normalise(exponent, fraction)
    if significand == 0:
        return sign << 79
    return sign << 79 | (unbiased + 16383) << 64 | significand << 11


def _shift(value: int, left: int) -> int:
    return value << left if left >= 0 else value >> -left


def _round_shift(value: int, drop: int) -> int:
    if drop <= 0:
        return value << -drop
    kept, rest, half = value >> drop, value & ((1 << drop) - 1), 1 << (drop - 1)
    return kept + (rest > half or (rest == half and kept & 1))

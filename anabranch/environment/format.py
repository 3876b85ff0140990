"""printf's directives: reading a format, and the text of concrete values, as musl writes them."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from anabranch.environment import format_long
from anabranch.environment.api import Value
from anabranch.ir.types import to_signed

INT_MAX = (1 << 31) - 1

Star = Literal["*"]


@dataclass(frozen=True, slots=True)
class Spec:
    """One directive. Width and precision are `*` until the arguments are known."""

    conversion: str
    length: str = ""
    flags: frozenset[str] = frozenset()
    width: int | Star = 0
    precision: int | Star | None = None

    @property
    def bits(self) -> int:
        """The width of the integer argument that counts."""
        if self.conversion == "p":
            return 64
        return {"hh": 8, "h": 16, "": 32}.get(self.length, 64)

    @property
    def float_bits(self) -> int:
        """The width of the floating-point argument."""
        return 80 if self.length == "L" else 64

    @property
    def is_signed(self) -> bool:
        return self.conversion in "di"

    @property
    def base(self) -> int:
        return {"x": 16, "X": 16, "p": 16, "o": 8}.get(self.conversion, 10)


@dataclass(frozen=True, slots=True)
class Invalid:
    """The rest of a format after a directive that is none: printf stops there with this error number."""

    code: int


Part = bytes | Spec | Invalid

_DIRECTIVE = re.compile(
    rb"%(?P<position>[0-9]\$)?(?P<flags>[-#0 +']*)(?P<width>\*|[0-9]*)"
    rb"(?:(?P<dot>\.)(?P<precision>\*|[0-9]*))?(?P<length>hh|h|ll|l|L|z|t|j|)(?P<conversion>[A-Za-z])"
)

# Which conversions a length modifier may stand before.
_ALLOWED = {
    "": "diouxXeEfFgGaAcCsSpnm",
    "l": "diouxXeEfFgGaAcsn",
    "ll": "diouxXn",
    "h": "diouxXn",
    "hh": "diouxXn",
    "L": "eEfFgGaAn",
    "z": "diouxXn",
    "t": "diouxXn",
    "j": "diouxXn",
}

_EINVAL, _EOVERFLOW = 22, 75


@lru_cache(maxsize=1024)
def parse(text: bytes) -> tuple[Part, ...]:
    """The literal runs and directives of a format, `%%` already as a literal."""
    parts: list[Part] = []
    at = 0
    while at < len(text):
        percent = text.find(b"%", at)
        if percent < 0:
            parts.append(text[at:])
            break
        if percent > at:
            parts.append(text[at:percent])
        if text[percent + 1 : percent + 2] == b"%":
            parts.append(b"%")
            at = percent + 2
            continue
        match = _DIRECTIVE.match(text, percent)
        part = _directive(match) if match else Invalid(_EINVAL)
        parts.append(part)
        if isinstance(part, Invalid):
            break
        assert match is not None
        at = match.end()
    return tuple(parts)


def _directive(match: re.Match[bytes]) -> Part:
    conversion, length = match["conversion"].decode(), match["length"].decode()
    if conversion not in _ALLOWED[length]:
        return Invalid(_EINVAL)
    width, precision = match["width"], match["precision"]
    if any(number not in (None, b"", b"*") and int(number) > INT_MAX for number in (width, precision)):
        return Invalid(_EOVERFLOW)
    return Spec(
        conversion,
        length + ("$" if match["position"] else ""),
        frozenset(match["flags"].decode()),
        "*" if width == b"*" else int(width or b"0"),
        None if match["dot"] is None else "*" if precision == b"*" else int(precision or b"0"),
    )


def with_width(spec: Spec, width: int) -> Spec:
    """A `*` width made known: a negative one means left adjusted."""
    return replace(spec, width=-width, flags=spec.flags | {"-"}) if width < 0 else replace(spec, width=width)


def with_precision(spec: Spec, precision: int) -> Spec:
    """A `*` precision made known: a negative one means none."""
    return replace(spec, precision=None if precision < 0 else precision)


def padded(spec: Spec, prefix: bytes, body: Sequence[Value], zero_fill: bool) -> bytes | list[Value]:
    """Prefix and body in a field: spaces left or right, or zeros between the two."""
    assert isinstance(spec.width, int)
    missing = spec.width - len(prefix) - len(body)
    left, zeros, right = b"", b"", b""
    if missing > 0:
        if "-" in spec.flags:
            right = b" " * missing
        elif zero_fill and "0" in spec.flags:
            zeros = b"0" * missing
        else:
            left = b" " * missing
    if isinstance(body, bytes):
        return left + prefix + zeros + body + right
    return [*left, *prefix, *zeros, *body, *right]


def lay_out_integer(spec: Spec, negative: bool, digits: Sequence[Value]) -> bytes | list[Value]:
    """An integer given by its sign and its digits (none at all for zero)."""
    assert spec.precision != "*"
    is_zero = not len(digits)
    least, prefix = spec.precision, b""
    if spec.conversion == "p" and least is not None:
        least = max(least, 16)
    if spec.base == 16 and not is_zero and ("#" in spec.flags or spec.conversion == "p"):
        prefix = b"0X" if spec.conversion == "X" else b"0x"
    if spec.base == 8 and "#" in spec.flags:
        least = max(least if least is not None else -1, len(digits) + 1)
    if spec.is_signed:
        prefix = b"-" if negative else b"+" if "+" in spec.flags else b" " if " " in spec.flags else b""
    wanted = max(1 if least is None else least, len(digits))
    zeros = b"0" * (wanted - len(digits))
    body = zeros + digits if isinstance(digits, bytes) else [*zeros, *digits]
    return padded(spec, prefix, body, spec.precision is None)


def digits_of(spec: Spec, magnitude: int) -> bytes:
    """The digits of a number, none for zero."""
    if not magnitude:
        return b""
    form = {"x": "x", "p": "x", "X": "X", "o": "o"}.get(spec.conversion, "d")
    return format(magnitude, form).encode()


def format_integer(spec: Spec, value: int) -> bytes:
    """The text of an integer argument."""
    value &= (1 << spec.bits) - 1
    number = to_signed(value, spec.bits) if spec.is_signed else value
    text = lay_out_integer(spec, number < 0, digits_of(spec, abs(number)))
    assert isinstance(text, bytes)
    return text


def format_text(spec: Spec, body: Sequence[Value]) -> bytes | list[Value]:
    """Characters in a field: %c and %s, whose precision has been applied."""
    return padded(spec, b"", body, False)


def format_double(spec: Spec, bits: int) -> bytes:
    """The text of a floating-point number given by its bits: a double, or a long double with length L."""
    assert spec.precision != "*"
    negative = bool(bits >> (spec.float_bits - 1))
    prefix = b"-" if negative else b"+" if "+" in spec.flags else b" " if " " in spec.flags else b""
    upper = spec.conversion.isupper()
    magnitude = bits & ((1 << (spec.float_bits - 1)) - 1)
    if spec.length == "L":
        text = _long_double(spec, prefix, bits)
    elif magnitude >> 52 == 0x7FF:
        name = b"nan" if magnitude & ((1 << 52) - 1) else b"inf"
        text = padded(spec, prefix, name.upper() if upper else name, False)
    elif spec.conversion in "aA":
        body = _hexadecimal(magnitude, spec.precision, "#" in spec.flags).encode()
        text = padded(spec, prefix + b"0x", body, True)
        text = text.upper() if upper and isinstance(text, bytes) else text
    else:
        value = struct.unpack("<d", struct.pack("<Q", magnitude))[0]
        precision = 6 if spec.precision is None else spec.precision
        alternate = "#" if "#" in spec.flags else ""
        text = padded(spec, prefix, (f"%{alternate}.{precision}{spec.conversion}" % value).encode(), True)
    assert isinstance(text, bytes)
    return text


def _long_double(spec: Spec, prefix: bytes, bits: int) -> bytes | list[Value]:
    assert spec.precision != "*"
    upper, alternate = spec.conversion.isupper(), "#" in spec.flags
    name = format_long.special_name(bits)
    if name:
        return padded(spec, prefix, (name.upper() if upper else name).encode(), False)
    if spec.conversion in "aA":
        body = format_long.hexadecimal_text(bits, spec.precision, alternate)
        prefix += b"0X" if upper else b"0x"
        return padded(spec, prefix, (body.upper() if upper else body).encode(), True)
    precision = 6 if spec.precision is None else spec.precision
    body = format_long.decimal_text(bits, spec.conversion, precision, alternate)
    return padded(spec, prefix, body.encode(), True)


def _hexadecimal(magnitude: int, precision: int | None, alternate: bool) -> str:
    """A finite magnitude as `h.hhhp+d`, normalised also when it is subnormal, rounded half to even."""
    exponent, fraction = magnitude >> 52, magnitude & ((1 << 52) - 1)
    if exponent:
        fraction |= 1 << 52
    elif fraction:
        shift = 53 - fraction.bit_length()
        fraction <<= shift
        exponent = 1 - shift
    power = exponent - 1023 if fraction else 0
    shown = 13
    if precision is not None and precision < 13:
        drop = 4 * (13 - precision)
        kept, rest = fraction >> drop, fraction & ((1 << drop) - 1)
        half = 1 << (drop - 1)
        fraction = kept + (rest > half or (rest == half and kept & 1))
        shown = precision
    head, tail = fraction >> (4 * shown), fraction & ((1 << (4 * shown)) - 1)
    hexadecimals = f"{tail:0{shown}x}" if shown else ""
    hexadecimals = hexadecimals.rstrip("0") if precision is None else hexadecimals.ljust(precision, "0")
    point = "." if hexadecimals or alternate else ""
    return f"{head}{point}{hexadecimals}p{power:+d}"

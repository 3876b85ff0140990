"""The text of a long double, as musl's printf writes it: exact decimals of 80-bit numbers."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

from anabranch.expr import x87

_EXACT = Context(prec=40_000, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999)
_HEXADECIMALS = 16  # of the 63 bits behind the point
_ROUNDED_BELOW = 15  # musl writes all digits from this precision on


def special_name(bits: int) -> str:
    """`inf` or `nan` for images that are no finite numbers, else nothing."""
    if x87.is_nan(bits):
        return "nan"
    return "inf" if bits & x87.MAGNITUDE == x87.INFINITY else ""


def decimal_text(bits: int, conversion: str, precision: int, alternate: bool) -> str:
    """The magnitude of a finite number by %e, %f or %g."""
    value = _exact(bits)
    if conversion in "fF":
        return _fixed(value, precision, alternate)
    if conversion in "eE":
        text = _scientific(value, precision, alternate)
    else:
        precision = precision or 1
        exponent = int(_scientific(value, precision - 1, False).partition("e")[2])
        if precision > exponent >= -4:
            text = _fixed(value, precision - 1 - exponent, alternate)
        else:
            text = _scientific(value, precision - 1, alternate)
        if not alternate:
            text = _without_zeros(text)
    return text.upper() if conversion.isupper() else text


def _exact(bits: int) -> Decimal:
    _, m, e = x87.parts(bits)
    return Decimal(m << e) if e >= 0 else Decimal(m * 5**-e).scaleb(e, _EXACT)


def _fixed(value: Decimal, precision: int, alternate: bool) -> str:
    return f"{value:.{precision}f}" + ("." if alternate and not precision else "")


def _scientific(value: Decimal, precision: int, alternate: bool) -> str:
    if not value:
        digits, exponent = "0" * (precision + 1), 0
    else:
        # the number of digits may grow by one when it is rounded
        rounded = Context(prec=precision + 1, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999).plus(
            value
        )
        exponent = rounded.adjusted()
        digits = "".join(map(str, rounded.as_tuple().digits)).ljust(precision + 1, "0")
    point = "." if precision or alternate else ""
    return f"{digits[0]}{point}{digits[1:]}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _without_zeros(text: str) -> str:
    body, mark, exponent = text.partition("e")
    if "." in body:
        body = body.rstrip("0").rstrip(".")
    return body + mark + exponent


def hexadecimal_text(bits: int, precision: int | None, alternate: bool) -> str:
    """The magnitude of a finite number as `h.hhhp+d`, normalised, rounded half to even."""
    _, m, e = x87.parts(bits)
    shift = 64 - m.bit_length() if m else 0
    fraction, power = m << (shift + 1), e + 63 - shift if m else 0
    shown = _HEXADECIMALS
    if precision is not None and precision < _ROUNDED_BELOW:
        drop = 4 * (shown - precision)
        kept, rest, half = fraction >> drop, fraction & ((1 << drop) - 1), 1 << (drop - 1)
        fraction = kept + (rest > half or (rest == half and kept & 1))
        shown = precision
    head, tail = fraction >> (4 * shown), fraction & ((1 << (4 * shown)) - 1)
    digits = f"{tail:0{shown}x}" if shown else ""
    if shown == _HEXADECIMALS:
        digits = digits.rstrip("0")
    digits = digits.ljust(precision or 0, "0")
    point = "." if digits or alternate else ""
    return f"{head}{point}{digits}p{power:+d}"

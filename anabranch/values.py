"""Values as the user writes them: times, memory, counts, names.

Each parser takes text and raises `ValueError` with a message that says what is expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_TIME_UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIME_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|min|ms|us|ns|s)")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_MEMORY_UNITS = {"": 1.0, "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0 * 1024.0}
_TIME_HINT = "write seconds (10, 3.5) or units (1h10min, 500ms)"
_MEMORY_HINT = "write megabytes (2000) or a unit (512MB, 2GB)"
_NO_LIMIT = "leave it out for no limit"


def parse_time(text: str) -> float:
    """Seconds of `10`, `3.5` or `1h10min`; units h, min, s, ms, us, ns in this order, each once."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        seconds = float(text)
    else:
        seconds, at, order = 0.0, 0, list(_TIME_UNITS)
        while match := _TIME_PART.match(text, at):
            if match[2] not in order:
                raise ValueError(f"{text!r} is not a time: {_TIME_HINT}")
            order = order[order.index(match[2]) + 1 :]
            seconds += float(match[1]) * _TIME_UNITS[match[2]]
            at = match.end()
        if at != len(text) or not text:
            raise ValueError(f"{text!r} is not a time: {_TIME_HINT}")
    if seconds <= 0:
        raise ValueError(f"must be more than 0; {_NO_LIMIT}")
    return seconds


def parse_memory(text: str) -> int:
    """Megabytes of `2000`, `512MB` or `2GB`."""
    match = _MEMORY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an amount of memory: {_MEMORY_HINT}")
    unit = match[2].lower()
    if not unit and text.strip().lower().endswith("b"):
        raise ValueError(f"{text!r} is not an amount of memory: {_MEMORY_HINT}")
    megabytes = int(float(match[1]) * _MEMORY_UNITS[unit])
    if megabytes < 1:
        raise ValueError("must be at least 1 MB")
    return megabytes


def number_between(least: float, most: float) -> Callable[[str], float]:
    """A parser of numbers in a range."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a number") from None
        if not least <= number <= most:
            raise ValueError(f"must be a number from {least:g} to {most:g}")
        return number

    return parse


def between(least: int, most: int) -> Callable[[str], int]:
    """A parser of whole numbers from `least` to `most`."""

    def parse(text: str) -> int:
        number = at_least(least)(text)
        if number > most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return parse


def at_least(least: int, hint: str = "") -> Callable[[str], int]:
    """A parser of whole numbers from `least` on."""

    def parse(text: str) -> int:
        digits = text.strip().replace("_", "").replace(",", "")
        if not re.fullmatch(r"[+-]?[0-9]+", digits):
            raise ValueError(f"{text!r} is not a whole number")
        if len(digits) > 30 or not least <= int(digits) < 1 << 63:
            raise ValueError(
                f"must be a whole number from {least} to 2^63 - 1" + (f"; {hint}" if hint else "")
            )
        return int(digits)

    return parse


parse_limit = at_least(1, _NO_LIMIT)


def one_of(*names: str) -> Callable[[str], str]:
    """A parser of one of a few names."""
    return one_of_these(lambda: names)


def one_of_these(names: Callable[[], Sequence[str]]) -> Callable[[str], str]:
    """A parser of one of the names that there are at the time of parsing."""

    def parse(text: str) -> str:
        if text not in names():
            raise ValueError(unknown_name(text, names()))
        return text

    return parse


def unknown_name(text: str, names: Sequence[str]) -> str:
    """The complaint about a name that is not one of those that there are."""
    return f"{text!r} is unknown{suggestion(text, names)}; choose from {', '.join(names)}"


def parse_define(text: str) -> str:
    """`NAME` or `NAME=VALUE`, or `NAME(ARGS)=VALUE` as a C compiler takes it."""
    if not re.match(r"[A-Za-z_]\w*(\([^)]*\))?(=|$)", text):
        raise ValueError(f"{text!r} is not a definition: write NAME or NAME=VALUE")
    return text


def parse_name(text: str) -> str:
    """The name of a C function."""
    if not re.fullmatch(r"[A-Za-z_$.][\w$.]*", text):
        raise ValueError(f"{text!r} is not the name of a function")
    return text


def suggestion(text: str, names: Sequence[str]) -> str:
    """`; did you mean ...?` when a name is near."""
    import difflib

    near = difflib.get_close_matches(text, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""

"""Numbers and places in words that a reader takes in at a glance."""

from __future__ import annotations

import os
from collections.abc import Sequence


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 path`, `2 paths`, `12,345 paths`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def short(number: float) -> str:
    """`950`, `12.3k`, `4.1M`."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.1f}{unit}"
    return f"{number:.0f}"


def clock(seconds: float) -> str:
    """`0.8 s`, `45 s`, `3:05 min`, `1:02:03 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d} h"


def megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"


def ranges(numbers: Sequence[int]) -> str:
    """`3-5, 9`, of ascending numbers."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def near(path: str) -> str:
    """A path from here, if it lies below the current directory."""
    found = os.path.relpath(path) if os.path.isabs(path) else path
    return path if found.startswith("..") else found

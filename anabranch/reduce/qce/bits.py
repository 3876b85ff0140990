"""Bit masks."""

from __future__ import annotations


def ones_of(mask: int) -> list[int]:
    """Positions of the bits that are set."""
    if not mask:
        return []
    text = bin(mask)
    last = len(text) - 1
    found = []
    position = text.rfind("1")
    while position > 1:
        found.append(last - position)
        position = text.rfind("1", 0, position)
    return found

"""Bit masks."""

from __future__ import annotations

from collections.abc import Iterable


def ones_of(mask: int) -> list[int]:
    """Positions of the bits that are set, ascending."""
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


def mask_of(positions: Iterable[int]) -> int:
    """The mask that has these bits set."""
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask

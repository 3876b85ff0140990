"""Flag words of instructions, as shared frozensets."""

from __future__ import annotations

from anabranch.ir.module import NO_FLAGS
from anabranch.ir.operands import Cursor
from anabranch.ir.vocabulary import FLAGS

_flag_sets: dict[tuple[str, ...], frozenset[str]] = {}


def flag_set(words: list[str]) -> frozenset[str]:
    """The shared frozenset of these words."""
    if not words:
        return NO_FLAGS
    key = tuple(words)
    found = _flag_sets.get(key)
    if found is None:
        found = _flag_sets[key] = frozenset(key)
    return found


def take_flags(c: Cursor, known: frozenset[str] = FLAGS) -> frozenset[str]:
    tokens = c.tokens
    if tokens[c.pos] not in known:
        return NO_FLAGS
    start = c.pos
    while tokens[c.pos] in known:
        c.pos += 1
    return flag_set(tokens[start : c.pos])

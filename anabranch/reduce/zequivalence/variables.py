"""Which variables occur in registers and in what models keep for a path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anabranch.expr import Expr, expr_vars
from anabranch.machine.joining.note_variables import PLAIN, Unreadable, variables_in
from anabranch.machine.path import NAMES
from anabranch.memo import Memo

NOTES_KEPT = 50_000
IGNORED_NOTES = frozenset((NAMES, "prefer"))  # names of inputs to come, and wishes for tests


def variables_of(values: Iterable[Any]) -> set[int]:
    """The variables in registers: values, and tuples of values."""
    found: set[int] = set()
    for value in values:
        if value.__class__ is Expr:
            found.update(expr_vars(value))
        elif value.__class__ is tuple:
            found |= variables_of(value)
    return found


def counts(key: Any) -> bool:
    """Can the program learn what a model keeps under a key?"""
    return (key[0] if key.__class__ is tuple else key) not in IGNORED_NOTES


class NoteVariables:
    """The variables in what models keep. Most paths share it, and looking into it is slow: without a memo
    detection on the drivers takes half as long again."""

    def __init__(self) -> None:
        self._known: Memo[int, tuple[Any, set[int] | None]] = Memo(NOTES_KEPT)

    def of(self, notes: Mapping[Any, Any]) -> set[int] | None:
        """None if something cannot be looked into."""
        found: set[int] = set()
        for key, value in notes.items():
            if isinstance(value, PLAIN) or not counts(key):
                continue
            # What is kept is held, so that its identity stays its own.
            known = self._known.get(id(value)) or self._known.keep(
                id(value), (value, readable_variables(value))
            )
            if known[1] is None:
                return None
            found |= known[1]
        return found


def readable_variables(value: Any) -> set[int] | None:
    """The variables in something that a model keeps; None if it cannot be looked into."""
    try:
        return variables_in(value)
    except Unreadable:
        return None

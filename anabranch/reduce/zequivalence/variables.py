"""Which variables occur in values, pages and in what models keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from anabranch.expr import Expr, expr_vars
from anabranch.machine.path import NAMES

PAGES_KEPT = 50_000
IGNORED_NOTES = frozenset((NAMES, "prefer"))  # names of inputs to come, and wishes for tests
PLAIN = (int, str, bytes, bytearray, float, type(None), frozenset)
NOTHING: frozenset[int] = frozenset()


def variables_of(values: Iterable[Any]) -> set[int]:
    """The variables in registers: values, and tuples of values."""
    found: set[int] = set()
    for value in values:
        if value.__class__ is Expr:
            found.update(expr_vars(value))
        elif value.__class__ is tuple:
            found |= variables_of(value)
    return found


class PageVariables:
    """The variables in pages; what was found is kept, because states share pages."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, frozenset[int]]] = {}
        self._numbered: dict[int, frozenset[int]] = {}

    def numbered(self, number: int, page: Any) -> frozenset[int]:
        """The same for a page whose content has a number."""
        found = self._numbered.get(number)
        if found is None:
            if len(self._numbered) >= PAGES_KEPT:
                self._numbered.clear()
            found = self._numbered[number] = self._look(page)
        return found

    def of(self, page: Any) -> frozenset[int]:
        if page.__class__ is bytearray:
            return NOTHING
        known = self._known.get(id(page))
        if known is not None:
            return known[1]
        if len(self._known) >= PAGES_KEPT:
            self._known.clear()
        found = self._look(page)
        self._known[id(page)] = (page, found)  # the page is held, so that its identity stays its own
        return found

    def _look(self, page: Any) -> frozenset[int]:
        if page.__class__ is bytearray:
            return NOTHING
        return frozenset(variables_of(dict.fromkeys(x for x in page if x.__class__ is Expr)))


def kind_of(key: Any) -> Any:
    """What sort of thing a model keeps under a key."""
    return key[0] if key.__class__ is tuple else key


class NoteVariables:
    """The variables in what models keep, which most paths have in common."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, frozenset[int] | None]] = {}

    def of(self, notes: Mapping[Any, Any]) -> tuple[dict[Any, Any], frozenset[int] | None]:
        """Those that count, and all variables in there; None if something cannot be looked into."""
        counting: dict[Any, Any] = {}
        found: frozenset[int] | None = NOTHING
        for key, value in notes.items():
            if kind_of(key) in IGNORED_NOTES:
                continue
            counting[key] = value
            if found is None or isinstance(value, PLAIN):
                continue
            known = self._known.get(id(value))
            if known is None:
                if len(self._known) >= PAGES_KEPT:
                    self._known.clear()
                known = self._known[id(value)] = (value, self._look(value))
            if known[1] is None:
                found = None
            elif known[1]:
                found |= known[1]
        return counting, found

    def _look(self, value: Any) -> frozenset[int] | None:
        try:
            return frozenset(variables_in(value))
        except Unreadable:
            return None


class Unreadable(Exception):
    """Something may hold variables and cannot be looked into."""


def variables_in(thing: Any) -> set[int]:
    """The variables in what a model keeps for a path; raises Unreadable."""
    found: set[int] = set()
    seen: dict[int, Any] = {}
    pending = [thing]
    while pending:
        item = pending.pop()
        if isinstance(item, PLAIN) or id(item) in seen:
            continue
        seen[id(item)] = item
        if item.__class__ is Expr:
            found.update(expr_vars(item))
        elif isinstance(item, tuple | list | set):
            pending.extend(item)
        elif isinstance(item, Mapping):
            pending.extend(item)
            pending.extend(item.values())
        elif is_dataclass(item):
            pending.extend(getattr(item, field.name) for field in fields(item))
        elif is_code(item):
            continue
        elif hasattr(item.__class__, "__slots__"):
            names = [n for kind in item.__class__.__mro__ for n in getattr(kind, "__slots__", ())]
            pending.extend(getattr(item, name, None) for name in names)
            pending.extend(getattr(item, "__dict__", {}).values())
        elif hasattr(item, "__dict__"):
            pending.extend(vars(item).values())
        else:
            raise Unreadable(item.__class__.__name__)
    return found


def is_code(item: Any) -> bool:
    """Places and functions of the program, which are the same on all paths."""
    return callable(item) or item.__class__.__module__.startswith("anabranch.machine.translator")

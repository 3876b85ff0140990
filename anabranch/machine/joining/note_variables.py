"""Which variables occur in what models keep for a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from anabranch.expr import Expr, expr_vars

PLAIN = (int, str, bytes, bytearray, float, type(None), frozenset)


class Unreadable(Exception):
    """Something may hold variables, and it is not known how to look into it."""


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
    """Is it a location or a function of the program, which is the same on all paths?"""
    return callable(item) or item.__class__.__module__.startswith("anabranch.machine.translator")

"""What models keep for a path, joined for two states."""

from __future__ import annotations

from typing import Any

import immutables

from anabranch.expr import Expr
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.same import same
from anabranch.machine.path import NAMES

Notes = immutables.Map[Any, Any]


def join_notes(guard: Expr, a: Notes, b: Notes) -> Notes:
    """What models keep; a value that can be joined has a method `join(other, guard)`."""
    if a is b:
        return a
    notes = a
    for key in dict.fromkeys((*a, *b)):
        mine: Any = a.get(key)
        other: Any = b.get(key)
        if mine is other or same(mine, other):
            continue
        kind = key[0] if isinstance(key, tuple) else key
        if mine is not None and hasattr(mine, "join") and other.__class__ is mine.__class__:
            value = mine.join(other, guard)
        elif kind == NAMES:
            value = _names(mine or immutables.Map(), other or immutables.Map())
        elif kind == "prefer":
            value = tuple(dict.fromkeys((*(mine or ()), *(other or ()))))
        elif kind == "static" and (mine is None or other is None):
            value = mine if other is None else other
        else:
            raise CannotJoin(f"different {kind}")
        notes = notes.set(key, value)
    return notes


def _names(a: Notes, b: Notes) -> Notes:
    """How often each name was used on either path, at most."""
    return a.update({name: count for name, count in b.items() if count > a.get(name, 0)})

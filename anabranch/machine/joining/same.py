"""Equality that never builds an expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from anabranch.expr import Expr


def same(a: Any, b: Any) -> bool:
    """Are two plain values equal? Objects of other kinds, and expressions, only if they are the same."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or a.__class__ is Expr:
        return False
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping):
        return len(a) == len(b) and all(key in b and same(value, b[key]) for key, value in a.items())
    if is_dataclass(a):
        return all(same(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    if isinstance(a, int | str | bytes | bytearray | frozenset | float):
        return bool(a == b)
    return False

"""Equality that never builds an expression."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
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


class Same:
    """A thing that is equal to nothing but itself, held so that its identity stays its own."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def plain(value: Any) -> Hashable:
    """What a thing is compared by as part of a key: equal for things that are the same in the above sense."""
    if value is None or isinstance(value, bool | int | str | bytes | float):
        return (value.__class__.__name__, value)
    if value.__class__ is Expr:
        return ("expression", value.id)
    if isinstance(value, tuple | list):
        return (value.__class__.__name__, *map(plain, value))
    if isinstance(value, frozenset):
        return value
    if isinstance(value, Mapping):
        return ("map", *sorted(((plain(k), plain(v)) for k, v in value.items()), key=repr))
    if is_dataclass(value):
        return (value.__class__.__name__, *(plain(getattr(value, field.name)) for field in fields(value)))
    return Same(value)

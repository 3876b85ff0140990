"""Objects of a program before it runs: one bit for all that one allocation site makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from anabranch.analysis.bits import ones_of
from anabranch.analysis.effects import Part, Static

ObjectKey: TypeAlias = (
    tuple[Literal["symbol", "static", "kernel", "special"], str]
    | tuple[Literal["local"], str, int]
    | tuple[Literal["heap"], str, int, int]
)
"""("symbol", name) is a variable or a function; ("local", function, index of the alloca); ("heap", function,
block, index of the call); ("static", name) a variable of the environment; ("kernel", kind) a part of the
kernel's state, which no pointer leads to."""

OUTSIDE: ObjectKey = ("special", "outside")
"""What the program is given (arguments, the environment), and all objects of the environment without a
name."""
PASSED: ObjectKey = ("special", "variable arguments")
COPIED: ObjectKey = ("special", "copied arguments")
"""Structs that were passed by value."""
ENVIRONMENT: ObjectKey = ("special", "environment")
"""Written by every function that nobody declares the effects of: stands for all variables of the
environment and all of the kernel's state."""


def environment_object(place: Static | Part) -> ObjectKey:
    return ("static", place.name) if isinstance(place, Static) else ("kernel", place.kind)


class AbstractObjects:
    """Numbers the objects; a set of them is a mask."""

    __slots__ = ("keys", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[ObjectKey, int] = {}
        self.keys: list[ObjectKey] = []

    def number(self, key: ObjectKey) -> int:
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return found

    def bit(self, key: ObjectKey) -> int:
        """The mask of one object; it is made if there is none yet."""
        return 1 << self.number(key)

    def known(self, key: ObjectKey) -> int:
        """The mask of one object; 0 if the program has none like it."""
        found = self.numbers.get(key)
        return 0 if found is None else 1 << found

    def of(self, mask: int) -> Iterator[ObjectKey]:
        return (self.keys[number] for number in ones_of(mask))

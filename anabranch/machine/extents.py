"""Objects whose extent depends on the input: how much of their capacity a path may access.

An object that was allocated with a size of the input has as many bytes as that size says (`SizeExtent`). An
argument of the program is a string of at most so many bytes, and ends behind its first NUL (`StringExtent`):
the byte at an offset is there only if no byte before it was NUL when the program started. What has been
proved of an extent is remembered until another path runs, and the bytes proved to be there are in the read
cache of the memory, where reading them is as quick as of any object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from anabranch import expr
from anabranch.expr import Expr
from anabranch.machine.objects import ObjectInfo

Value = Any


class Extent(Protocol):
    """How many bytes of an object may be accessed."""

    @property
    def least(self) -> int:
        """Never fewer than these."""

    def beyond(self, end: Value, least: int) -> tuple[Value, ...]:
        """Conditions, one of which holds where the bytes before `end` are not all there.

        The first `least` bytes are known to be there; `end` may be an expression of 64 bits.
        """

    def outside(self, offset: Expr, size: int, capacity: int, least: int) -> tuple[Value, ...]:
        """Conditions, one of which holds where `size` bytes at an offset are not all in the object."""


@dataclass(frozen=True, slots=True)
class SizeExtent:
    """As many bytes as an expression of 64 bits says, which the path holds to at most the capacity."""

    size: Expr

    @property
    def least(self) -> int:
        return 0

    def beyond(self, end: Value, least: int) -> tuple[Value, ...]:
        return (expr.ult(self.size, end, 64),)

    def outside(self, offset: Expr, size: int, capacity: int, least: int) -> tuple[Value, ...]:
        if size == 1:
            return (expr.ule(self.size, offset, 64),)
        # A sum of offset and size may wrap around; a difference does not where it counts.
        return expr.ult(self.size, size, 64), expr.ugt(offset, expr.sub(self.size, size, 64), 64)


@dataclass(frozen=True, slots=True)
class StringExtent:
    """Up to the first NUL among the bytes that the object held at first, and that NUL."""

    data: tuple[Value, ...]
    is_nul: tuple[Value, ...] = field(init=False, compare=False)
    """By offset: the condition that the byte is NUL."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_nul", tuple(expr.eq(byte, 0, 8) for byte in self.data))

    @property
    def least(self) -> int:
        return 1

    def beyond(self, end: Value, least: int) -> tuple[Value, ...]:
        if end.__class__ is int:
            return self.is_nul[least - 1 : end - 1]
        return tuple(
            expr.and_(is_nul, expr.ugt(end, offset + 1, 64), 1)
            for offset, is_nul in enumerate(self.is_nul[:-1])
            if offset >= least - 1
        )

    def outside(self, offset: Expr, size: int, capacity: int, least: int) -> tuple[Value, ...]:
        end = expr.add(offset, size, 64)
        return expr.ugt(offset, capacity - size, 64), *self.beyond(end, least)


def size_of(info: ObjectInfo) -> int | Expr:
    """How many bytes an object has, as far as its size is one number or expression."""
    return info.extent.size if isinstance(info.extent, SizeExtent) else info.size


def same_extent(a: Extent | None, b: Extent | None) -> bool:
    """Are two extents the same? Expressions are interned, and must not be compared by `==`."""
    if a is b:
        return True
    if isinstance(a, SizeExtent) and isinstance(b, SizeExtent):
        return a.size is b.size
    if isinstance(a, StringExtent) and isinstance(b, StringExtent):
        return len(a.data) == len(b.data) and all(x is y for x, y in zip(a.data, b.data, strict=True))
    return False

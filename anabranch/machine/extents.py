"""Objects whose extent depends on the input: how much of their capacity a path may access.

An argument of the program is a string of at most so many bytes. It ends behind its first NUL, so the byte at
an offset is there only if no byte before it was NUL when the program started. That is checked where a path
first gets so far: what has been proved of an extent is remembered until another path runs, and the bytes
proved to be there are in the read cache of the memory, where accesses are as quick as to any object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from anabranch import expr
from anabranch.expr import Expr
from anabranch.machine.ends import Fault
from anabranch.machine.objects import ObjectInfo

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

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


class Extents:
    """Checks accesses to such objects, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory

    def require(self, info: ObjectInfo, end: Value, details: dict[str, object]) -> None:
        """The path fails where the bytes before `end` are not all there; from here on they are."""
        least = self._proved(info)
        if end.__class__ is int and end <= least:
            return
        bad = self._missing(info, end, least)
        self.machine.check(bad, Fault("out-of-bounds", "memory error: out of bound pointer", details))
        if end.__class__ is int:
            self._remember(info, end)

    def certain(self, info: ObjectInfo) -> int:
        """How many bytes are there as far as is known without the solver."""
        assert info.extent is not None
        least = self._proved(info)
        while least < info.size and self._missing(info, least + 1, least) is False:
            least += 1
        self._remember(info, least)
        return least

    def missing(self, info: ObjectInfo, end: Value) -> Value:
        """The condition that the bytes before `end` are not all there."""
        return self._missing(info, end, self._proved(info))

    def ends_at_nul(self, info: ObjectInfo) -> bool:
        """Does whoever stops at the first NUL stay inside? So it is as long as nobody has written there."""
        if not isinstance(info.extent, StringExtent):
            return False
        return all(
            mine is first
            for mine, first in zip(self.memory.contents(info.base, info.size), info.extent.data, strict=True)
        )

    def _proved(self, info: ObjectInfo) -> int:
        assert info.extent is not None
        return self.memory.proved.get(info.id, info.extent.least)

    def _remember(self, info: ObjectInfo, end: int) -> None:
        if end > self.memory.proved.get(info.id, 0):
            self.memory.proved[info.id] = end
            self.memory.show(info, end)

    def _missing(self, info: ObjectInfo, end: Value, least: int) -> Value:
        assert info.extent is not None
        known = self.machine.knowledge.known
        bad: Value = False
        for condition in info.extent.beyond(end, least):
            if condition.__class__ is Expr:
                condition = known(condition)
            if condition is not False:
                bad = expr.or_(bad, condition, 1)
        return bad

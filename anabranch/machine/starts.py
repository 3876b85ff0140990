"""Symbolic pointers that must be the start of an object, as those given to `free`: resolved by object.

All values that are no start of a suitable object are one error; the path goes on with the others, a path for
each object that the pointer may be the start of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr
from anabranch.machine.bases import base_numbers
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.undefined import settled

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
FaultOf = Callable[[Value, ObjectInfo | None], Fault]
"""The error that a pointer is, with the object that it leads to if that is known."""


class Starts:
    """Finds the objects that pointers are the start of, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory

    def resolve(self, pointer: Value, suitable: Callable[[ObjectInfo], bool], fault: FaultOf) -> ObjectInfo:
        """The live and suitable object that starts at a pointer on this path. May fork; anything else is the
        error that `fault` tells."""
        known = self._known(pointer)
        if known.__class__ is not Expr:
            info = self.memory.find(known >> 32)
            if info is None or info.end or known != info.base or not suitable(info):
                raise ProgramError(fault(known, info))
            return info
        meant = self._meant(known)
        live = [info for info in meant if not info.end]
        gone = [info for info in meant if info.end and suitable(info)]
        if gone:
            self.machine.check(_any_start(known, gone), fault(known, gone[0]))
        valid = _any_start(known, (info for info in live if suitable(info)))
        wrong = fault(known, live[0] if len(live) == 1 else None)
        self.machine.check(expr.not_(valid) if valid.__class__ is Expr else not valid, wrong)
        while True:
            base = self.machine.sample(known, 64)
            if bool(expr.eq(known, base, 64)):
                found = self.memory.find(base >> 32)
                assert found is not None and found.base == base
                return found

    def _known(self, pointer: Value) -> Value:
        """The pointer as far as it is known; an uninitialised one is an error."""
        if pointer.__class__ is not Expr:
            return pointer
        known = settled(self.machine, pointer)
        if known is None:
            raise ProgramError(
                Fault("uninitialised", "use of uninitialised memory as an address", {"address": pointer})
            )
        return known

    def _meant(self, pointer: Expr) -> list[ObjectInfo]:
        """The objects that a pointer is based on; all there are if that cannot be told."""
        numbers = base_numbers(pointer)
        named = [self.machine.addresses.named(number, pointer) for number in numbers or (0,) if number]
        if numbers is not None and 0 not in numbers and None not in named:
            return [info for info in named if info is not None]
        everything = dict(self.memory.objects)
        everything.update(self.memory.fresh)
        return [info for _, info in sorted(everything.items())]


def _any_start(pointer: Expr, objects: Iterable[ObjectInfo]) -> Value:
    condition: Value = False
    for info in objects:
        condition = expr.or_(condition, expr.eq(pointer, info.base, 64), 1)
    return condition

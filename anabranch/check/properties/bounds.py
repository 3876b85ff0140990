"""Accesses outside of objects of constant size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.leaves import GlobalObject, LocalObject
from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value, bool_and, ult
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class OutOfBounds(Property):
    name = "bounds"
    kind = "out-of-bounds"
    flows = False
    ends = True

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        if size is None:
            return
        for place in gated.program.places.of(address):
            if place.base is None or place.offset is None:
                continue
            length = gated.program.size_of(place.base)
            if length is None:
                continue
            # Offsets are numbers modulo 2**64: one before the object is far beyond it.
            if place.offset.__class__ is Expr and gated.program.leaves.given_up(place.offset):
                gated.program.imprecise["an index that is not followed is not checked"] += 1
                continue
            beyond = ult(length - size, place.offset, 64) if length >= size else True
            bad = bool_and(place.condition, beyond)
            if bad is False:
                continue
            if place.offset.__class__ is Expr and not gated.first_time(f"bounds {size}", address):
                continue
            what = f"{what} of {size} byte{'s' * (size != 1)}"
            message = f"{what} outside of '{self._name(gated, place.base)}' ({length} bytes)"
            gated.condition(self, node, bad, instruction.loc, message, place.base, place.offset)

    def _name(self, gated: Gated, base: Expr) -> str:
        leaf = gated.program.leaves.of(base)
        if isinstance(leaf, GlobalObject):
            return gated.program.module.globals[leaf.name].source_name
        return leaf.name if isinstance(leaf, LocalObject) else ""

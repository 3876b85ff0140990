"""Ghost locations: has the object that a pointer leads to been freed?

Memory has one more location for each base, `GHOST`, which only `free` writes. It is read like any other,
so that joins and calls are the same as for real memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anabranch.check.events import GHOST, Event, Hits, Location
from anabranch.check.leaves import GlobalObject
from anabranch.check.memory import MemoryOf
from anabranch.check.places import Place
from anabranch.expr import Expr, Value, bool_and, bool_or, ne
from anabranch.ir.debug import DebugLoc

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


@dataclass(eq=False, slots=True)
class Free(Event):
    """The objects at some places are freed."""

    places: tuple[Place, ...]
    loc: DebugLoc | None

    def bases(self) -> Iterable[Expr]:
        return [place.base for place in self.places if place.base is not None]

    def ghost_hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        return [(place.condition, 1) for place in self.places if place.base is at.base]


def freed_condition(gated: Gated, node: int, position: int, pointer: Value) -> Value:
    """The condition under which the object that a pointer leads to has been freed: here, or before."""
    leaves = gated.program.leaves
    result: Value = False
    for place in gated.program.places.of(pointer):
        base = place.base
        if base is None:
            continue
        freed: Value = False
        if gated.memory_is_freed:
            freed = ne(gated.memory.read(node, position, base, GHOST, 8), 0, 8)
        if leaves.visible(base.a) and not isinstance(leaves.of(base), GlobalObject):
            freed = bool_or(freed, leaves.freed(base))
        result = bool_or(result, bool_and(place.condition, freed))
    return result

"""What a piece of a program may write, with fields of globals told apart.

`MayWrite` knows objects as a whole. Here a store to a global at a constant offset is a place of its own, so
that who writes one field of a struct does not write the others.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from anabranch.analysis.addresses import Addresses
from anabranch.analysis.bits import ones_of
from anabranch.analysis.components import named_components
from anabranch.analysis.may_write import WRITING, MayWrite
from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import Local

Place: TypeAlias = tuple[str, int, int]
"""Name of a global, offset and size in bytes."""
MOST_PLACES = 24  # of one function or region, beyond which they count as objects


class Written(NamedTuple):
    """Objects that may be written anywhere, and places."""

    objects: int
    places: frozenset[Place]

    def __or__(self, other: Written) -> Written:
        return Written(self.objects | other.objects, self.places | other.places)


NOTHING = Written(0, frozenset())


class WrittenPlaces:
    """What functions and regions write, callees included."""

    def __init__(self, may_write: MayWrite) -> None:
        self._may_write = may_write
        self._graph = may_write.points_to.graph
        self._module = may_write.module
        self._functions: dict[str, Written] = {}
        self._blocks: dict[str, list[Written]] = {}
        self._solve()

    def _solve(self) -> None:
        graph, has_body = self._graph, self._may_write.points_to.has_body
        bodies = [name for name in graph.sites if has_body(name)]
        known = set(bodies)
        calls = {name: [c for c in graph.callees(name) if c in known] for name in bodies}
        for members in named_components(calls):
            written = NOTHING
            for name in members:
                own = self._blocks[name] = self._own(self._module.functions[name])
                for one in own:
                    written |= one
                for callee in calls[name]:
                    written |= self._functions.get(callee, NOTHING)
            written = self._bounded(written)
            for name in members:
                self._functions[name] = written
        for name in bodies:
            blocks = self._blocks[name]
            for site in graph.sites[name]:
                for callee in site.callees:
                    blocks[site.block] |= self._functions.get(callee, NOTHING)

    def function(self, name: str) -> Written:
        """What a call of a function with a body may write."""
        return self._functions[name]

    def region(self, function: Function, blocks: int) -> Written:
        """What the blocks of a mask may write."""
        found = NOTHING
        for block in ones_of(blocks):
            found |= self._blocks[function.name][block]
        return self._bounded(found)

    def _bounded(self, written: Written) -> Written:
        objects = self._may_write.points_to.objects
        if len(written.places) > MOST_PLACES:
            whole = sum({objects.known(("symbol", name)) for name, _, _ in written.places})
            return Written(written.objects | whole, frozenset())
        # A place in an object that is written anywhere adds nothing.
        kept = {
            place for place in written.places if not objects.known(("symbol", place[0])) & written.objects
        }
        return Written(written.objects, frozenset(kept))

    def _own(self, function: Function) -> list[Written]:
        """By block, without callees."""
        addresses = Addresses(self._module, function, range(len(function.blocks)))
        found = []
        for block in function.blocks:
            objects, places = 0, set()
            for index, instruction in enumerate(block.instructions):
                place = self._place(addresses, instruction) if instruction.opcode == "store" else None
                if place is not None:
                    places.add(place)
                elif instruction.opcode in WRITING:
                    objects |= self._may_write.written(function, block.index, index, instruction)
            found.append(Written(objects, frozenset(places)))
        return found

    def _place(self, addresses: Addresses, store: Instruction) -> Place | None:
        value, pointer = store.operands
        if isinstance(pointer, Local) and pointer.index not in addresses.definitions:
            return None
        target = addresses.target(pointer)
        if target.heap or len(target.pointees) != 1:
            return None
        ((base, offset),) = target.pointees
        known = self._may_write.points_to.objects.known
        if base[0] != "global" or offset is None or not known(("symbol", str(base[1]))):
            return None
        return str(base[1]), offset, value.type.size

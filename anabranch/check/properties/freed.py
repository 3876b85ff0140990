"""Use after free, and double free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class UseAfterFree(Property):
    name = "freed"
    kind = "use-after-free"
    doubts_cycles = True  # lists that are freed element by element have none

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        places = gated.program.places.of(address)
        if len(places) == 1 and places[0].base is not None:
            gated.learn("access", places[0].base)
        self._check(gated, node, address, instruction, f"{what} of freed memory")

    def string(self, gated: Gated, node: int, address: Value, instruction: Instruction) -> None:
        self._check(gated, node, address, instruction, "read of freed memory")

    def release(self, gated: Gated, node: int, address: Value, instruction: Instruction) -> None:
        self._check(gated, node, address, instruction, "double free", "double-free")

    def _check(
        self,
        gated: Gated,
        node: int,
        address: Value,
        instruction: Instruction,
        message: str,
        kind: str = "",
    ) -> None:
        if address.__class__ is not Expr:
            return
        if not gated.memory_is_freed and not gated.first_time("freed before", address):
            return
        bad = gated.freed(node, len(gated.memory.events[node]), address)
        if bad is not False:
            gated.condition(self, node, bad, instruction.loc, message, address, address, kind)

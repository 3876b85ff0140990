"""Use after free, and double free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.leaves import Freed
from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated
    from anabranch.check.summaries import Site


class UseAfterFree(Property):
    """A callee that dereferences or frees a parameter on every way is checked where it is called."""

    name = "freed"
    kind = "use-after-free"

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        places = gated.program.places.of(address)
        if len(places) == 1 and places[0].base is not None:
            gated.learn("access", places[0].base)
        self._check(gated, node, address, instruction, f"{what} of freed memory")

    def release(self, gated: Gated, node: int, address: Value, instruction: Instruction) -> None:
        self._check(gated, node, address, instruction, "double free")

    def call(self, gated: Gated, node: int, site: Site, instruction: Instruction) -> None:
        for index in sorted(site.callee.effects.always_accessed | site.callee.effects.always_freed):
            if index < len(site.arguments):
                freed = index in site.callee.effects.always_freed
                what = "double free" if freed else "use of freed memory"
                message = f"{what} in {site.callee.name}"
                self._check(gated, node, site.arguments[index], instruction, message)

    def _check(self, gated: Gated, node: int, address: Value, instruction: Instruction, message: str) -> None:
        if address.__class__ is not Expr or not gated.memory_is_freed:
            return
        bad = gated.freed(node, len(gated.memory.events[node]), address)
        # What the caller may have freed is the caller's affair.
        if bad is False or all(isinstance(leaf, Freed) for leaf in gated.program.leaves.support(bad)):
            return
        gated.condition(self, node, bad, instruction.loc, message, address, address)

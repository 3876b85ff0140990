"""Assertions: the place where one fails is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.properties.base import Property
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class Assertion(Property):
    """The asserted condition is the last branch before the place: the gate of its node is the consequent."""

    name = "assert"
    kind = "assert"
    flows = False
    ends = True

    def failure(self, gated: Gated, node: int, instruction: Instruction, message: str) -> None:
        gated.unreachable_condition(self, node, instruction.loc, message)

"""Division by zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value
from anabranch.ir.module import Instruction
from anabranch.semantics.conditions import DIVISION_BY_ZERO, possible_faults

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class Division(Property):
    name = "division"
    kind = "division-by-zero"
    flows = False

    def operation(self, gated: Gated, node: int, instruction: Instruction, values: tuple[Value, ...]) -> None:
        if instruction.opcode not in ("udiv", "sdiv", "urem", "srem"):
            return
        for bad, fault in possible_faults(instruction, values, check_overflow=False):
            if fault is not DIVISION_BY_ZERO or bad is False:
                continue
            divisor = values[1]
            if divisor.__class__ is Expr and not gated.first_time("zero", divisor):
                continue
            gated.condition(self, node, bad, instruction.loc, "division by zero", divisor, divisor)

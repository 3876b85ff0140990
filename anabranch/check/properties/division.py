"""Division by zero: of integers, and of floating-point numbers where the quotient becomes an integer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value, and_, eq
from anabranch.ir.module import Instruction
from anabranch.ir.types import FloatType
from anabranch.ir.values import Local
from anabranch.semantics.conditions import DIVISION_BY_ZERO, possible_faults

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class Division(Property):
    name = "division"
    kind = "division-by-zero"
    flows = False
    ends = True

    def operation(self, gated: Gated, node: int, instruction: Instruction, values: tuple[Value, ...]) -> None:
        if instruction.opcode in ("fptosi", "fptoui"):
            self._conversion(gated, node, instruction)
        if instruction.opcode not in ("udiv", "sdiv", "urem", "srem"):
            return
        for bad, fault in possible_faults(instruction, values, check_overflow=False):
            if fault is DIVISION_BY_ZERO:
                self._check(gated, node, bad, instruction, values[1], "division by zero")

    def _conversion(self, gated: Gated, node: int, instruction: Instruction) -> None:
        """A quotient by zero is infinite or not a number, which is fine until it is made an integer."""
        operand = instruction.operands[0]
        if not isinstance(operand, Local) or not gated.is_defined(operand.index):
            return
        quotient = gated.definition(operand.index)
        if quotient.opcode != "fdiv" or not isinstance(operand.type, FloatType) or operand.type.bits > 64:
            return
        divisor, width = gated.value(node, quotient.operands[1]), operand.type.bits
        bad = eq(and_(divisor, (1 << (width - 1)) - 1, width), 0, width)
        message = "division by zero, of which an integer is made"
        self._check(gated, node, bad, quotient, divisor, message)

    def _check(
        self, gated: Gated, node: int, bad: Value, instruction: Instruction, divisor: Value, message: str
    ) -> None:
        if bad is False or (divisor.__class__ is Expr and not gated.first_time("zero", divisor)):
            return
        gated.condition(self, node, bad, instruction.loc, message, divisor, divisor)

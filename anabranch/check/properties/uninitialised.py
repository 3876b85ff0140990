"""Uses of local variables and blocks that were never written: in a branch, an address or an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.leaves import Leaves, Uninitialised
from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value, bool_or, expr_vars, ite, operands
from anabranch.expr.node import ITE, VAR
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


def undefinedness(leaves: Leaves, value: Expr, known: dict[Expr, Value]) -> Value:
    """The condition under which a value depends on something that was never written."""
    if not any(isinstance(leaves.at(index), Uninitialised) for index in expr_vars(value)):
        return False
    stack = [value]
    while stack:
        current = stack[-1]
        if current in known:
            stack.pop()
            continue
        parts = list(operands(current))
        missing = [part for part in parts if part not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        if current.op == VAR:
            known[current] = isinstance(leaves.of(current), Uninitialised)
        elif current.op == ITE:
            sides = [known[x] if x.__class__ is Expr else False for x in (current.b, current.c)]
            known[current] = bool_or(known[current.a], ite(current.a, sides[0], sides[1], 1))
        else:
            result: Value = False
            for part in parts:
                result = bool_or(result, known[part])
            known[current] = result
    return known[value]


class UninitialisedUse(Property):
    name = "uninitialised"
    kind = "uninitialised"

    def __init__(self) -> None:
        self._known: dict[Expr, Value] = {}

    def use(self, gated: Gated, node: int, value: Value, instruction: Instruction, what: str) -> None:
        self._check(gated, node, value, instruction, what)

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        if address.__class__ is Expr:
            self._check(gated, node, address, instruction, f"{what} through")

    def _check(self, gated: Gated, node: int, value: Expr, instruction: Instruction, what: str) -> None:
        leaves = gated.program.leaves
        bad = undefinedness(leaves, value, self._known)
        if bad is False or not gated.first_time("defined", value):
            return
        names = [leaf.name for leaf in leaves.support(value) if isinstance(leaf, Uninitialised)]
        message = f"{what} a value that was never written ({names[0]})"
        gated.condition(self, node, bad, instruction.loc, message, names[0], value)

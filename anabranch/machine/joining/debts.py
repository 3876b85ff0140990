"""Tests that joined states owe: a part of them covered something new, and any input of that part will do."""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr
from anabranch.expr.boolean import bool_and, bool_or, negation
from anabranch.machine.state import State


class Debt:
    """Inputs that satisfy the condition cover something that no test covers yet.

    The paths that a joined state forks into share what it owes: whoever can pays, for all.
    """

    __slots__ = ("condition", "shared")

    def __init__(self, condition: Any, shared: list[bool] | None = None) -> None:
        self.condition = condition
        self.shared = [False] if shared is None else shared

    @property
    def paid(self) -> bool:
        return self.shared[0]

    def pay(self) -> None:
        self.shared[0] = True


def join_debts(guard: Expr, a: State, b: State) -> tuple[Debt, ...]:
    """What a joined state owes: what its sides owe, each for the inputs that lead there."""
    owed: dict[int, Debt] = {}
    for side, state in ((guard, a), (negation(guard), b)):
        debts = [*state.owed, Debt(True)] if state.covered_new else state.owed
        for debt in debts:
            if debt.paid:
                continue
            condition = bool_and(debt.condition, side)
            if condition is False:
                continue  # none of its inputs comes from this side
            known = owed.get(id(debt.shared))
            if known is not None:
                condition = bool_or(known.condition, condition)
            owed[id(debt.shared)] = Debt(condition, debt.shared)
    return tuple(owed.values())

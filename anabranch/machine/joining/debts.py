"""Tests that joined states owe: a part of them covered something new, and any input of that part will do."""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr
from anabranch.expr.boolean import bool_and


class Debt:
    """Inputs that satisfy the condition cover something that no test covers yet.

    The paths that a joined state forks into share what it owes: whoever can pays, for all.
    """

    __slots__ = ("_shared", "condition")

    def __init__(self, condition: Any, shared: list[bool] | None = None) -> None:
        self.condition = condition
        self._shared = [False] if shared is None else shared

    @property
    def paid(self) -> bool:
        return self._shared[0]

    def pay(self) -> None:
        self._shared[0] = True

    def under(self, guard: Expr) -> Debt:
        """The same debt in a state where the debtor is the part that satisfies the guard."""
        return Debt(bool_and(self.condition, guard), self._shared)

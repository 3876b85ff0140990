"""Pending tests of joined states: a part covered something new, and any input of that part shows it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anabranch.expr import Expr
from anabranch.expr.boolean import bool_and, bool_or
from anabranch.machine.state import State


class PendingTest:
    """Inputs that satisfy the condition cover something that no test covers yet.

    The paths that a joined state forks into share its pending tests: the first that can writes each of them.
    """

    __slots__ = ("condition", "shared")

    def __init__(self, condition: Any, shared: list[bool] | None = None) -> None:
        self.condition = condition
        self.shared = [False] if shared is None else shared

    @property
    def written(self) -> bool:
        return self.shared[0]

    def mark_written(self) -> None:
        self.shared[0] = True


def join_pending_tests(sides: Iterable[tuple[Expr, State]]) -> tuple[PendingTest, ...]:
    """The pending tests of a joined state: those of its sides, each for the inputs that lead there."""
    pending: dict[int, PendingTest] = {}
    for side, state in sides:
        for test in [*state.pending_tests, PendingTest(True)] if state.covered_new else state.pending_tests:
            if test.written:
                continue
            condition = bool_and(test.condition, side)
            if condition is False:
                continue  # none of its inputs comes from this side
            known = pending.get(id(test.shared))
            if known is not None:
                condition = bool_or(known.condition, condition)
            pending[id(test.shared)] = PendingTest(condition, test.shared)
    return tuple(pending.values())

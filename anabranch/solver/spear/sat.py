"""CaDiCaL, by the functions of python-sat.

The class that python-sat has around them puts its own handler of Ctrl-C in place of the run's while a query
goes on, and jumps out of the solver when it comes; these functions leave it alone if asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

import pysolvers

from .gates import Clause
from .options import check_sat_options

CHUNK = 2000
"""Conflicts between two looks at the clock, where the time is limited: some hundredths of a second."""


class Cadical:
    """One SAT solver."""

    __slots__ = ("_assumed", "_solver", "add")

    add: Callable[[Clause], object]
    """Adds a clause, before the first question or between two."""

    def __init__(self, options: Mapping[str, int] | None = None) -> None:
        self._solver: Any = pysolvers.cadical195_new()
        options = options or {}
        check_sat_options(options)
        for name, value in options.items():
            pysolvers.cadical195_set(self._solver, name, value)
        self._assumed: list[int] = []
        self.add = partial(pysolvers.cadical195_add_cl, self._solver)

    def __del__(self) -> None:
        pysolvers.cadical195_del(self._solver, None)

    def solve(
        self,
        assumptions: Sequence[int],
        conflicts: int,
        deadline: float,
        clock: Callable[[], float] = monotonic,
    ) -> bool | None:
        """Whether the clauses and assumptions have a model; None after so many conflicts or in time."""
        self._assumed = list(assumptions)
        whole = deadline == float("inf")
        while conflicts > 0:
            step = conflicts if whole else min(CHUNK, conflicts)
            pysolvers.cadical195_cbudget(self._solver, step)
            status = pysolvers.cadical195_solve_lim(self._solver, self._assumed, 0)
            if status:
                return bool(status > 0)
            conflicts -= step
            if clock() > deadline:
                break
        return None

    def model(self) -> list[int]:
        """The literals that hold, by variable: of variable v at place v - 1."""
        literals: list[int] = pysolvers.cadical195_model(self._solver)
        return literals

    def core(self) -> list[int]:
        """Assumptions that cannot hold together."""
        literals: list[int] = pysolvers.cadical195_core(self._solver, self._assumed) or []
        return literals

    @property
    def conflicts(self) -> int:
        """Met so far."""
        return int(pysolvers.cadical195_acc_stats(self._solver)["conflicts"])

"""Builds the parts of the technique around a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Protocol

from anabranch.explore.engine import Exploration, Operators
from anabranch.explore.leaks import watches_heap
from anabranch.explore.protocols import Search
from anabranch.explore.search.plain import Bfs, Dfs, RandomState
from anabranch.machine import State
from anabranch.reduce.zequivalence.callee_first import PATIENCE, CalleeFirst
from anabranch.reduce.zequivalence.calls import Calls
from anabranch.reduce.zequivalence.context import Tables
from anabranch.reduce.zequivalence.exact import equivalent
from anabranch.reduce.zequivalence.ledger import ZLedger
from anabranch.reduce.zequivalence.prune import Exact, ZEquivalence
from anabranch.reduce.zequivalence.verify import TwinVerifier
from anabranch.solver.quantified import Quantified

HURRIED_SHARE = 0.2  # of the time that comparing may take then


class ZSettings(Protocol):
    """The settings that the technique reads."""

    @property
    def zeq(self) -> str: ...
    @property
    def zeq_observe(self) -> str: ...
    @property
    def zeq_wait(self) -> int: ...
    @property
    def max_time(self) -> float | None: ...
    @property
    def verify_reductions(self) -> bool: ...


class ZParts:
    """The technique before the other operators of the loop are known."""

    def __init__(self, run: Exploration, settings: ZSettings) -> None:
        run.table.count_every_call()
        self.run = run
        self.settings = settings
        self.ledger = ZLedger()
        self.calls = Calls(run.machine, self.ledger, settings.zeq_observe == "function")
        self.search: CalleeFirst

    def stack(self, order: Search[State]) -> Search[State]:
        """Callee first around an order that knows nothing of calls."""
        if self.settings.max_time is not None and not self.settings.zeq_wait:
            # Time may end before the calls do: the order knows what is worth it.
            self.search = CalleeFirst(order, None, self.calls, at_once=True)
            return self.search
        make = worklists(self.run.settings.search, self.run.settings.seed)
        self.search = CalleeFirst(order, make, self.calls, self.settings.zeq_wait or PATIENCE)
        return self.search

    def flat(self, order: Search[State]) -> Search[State]:
        """Around an order in which callees come first anyway."""
        self.search = CalleeFirst(order, None, self.calls)
        return self.search

    def into(self, operators: Operators) -> Operators:
        """The operators of the loop with this one among them."""
        run = self.run
        self.calls.watch()
        tables = Tables(watches_heap(run.settings.checks))
        exact = exact_check() if self.settings.zeq == "exact" else None
        share = 1.0 if self.settings.max_time is None else HURRIED_SHARE
        removed = run.reporter.pruned
        prune = ZEquivalence(self.calls, self.search, self.ledger, tables, removed, exact, share)
        if self.settings.verify_reductions:
            prune.verifier = TwinVerifier(
                run.machine, self._wrong, lambda: run.limits.check(run.figures) is not None
            )
        others = operators.figures
        return replace(operators, prune=prune, figures=lambda: {**others(), "zequivalence": prune.figures()})

    def _wrong(self, text: str) -> None:
        self.run.reporter.losses.add("wrong removal")
        self.run.listener.on_warning(text)


def worklists(names: tuple[str, ...], seed: int) -> Callable[[], Search[State]]:
    """Makes the worklists of calls: the order asked for if it is a plain one, else random as in the paper."""
    if names == ("dfs",):
        return Dfs
    if names == ("bfs",):
        return Bfs
    random = Random(seed)
    return lambda: RandomState(random)


def exact_check() -> Exact:
    """Definition 1 by the solver, within bounds."""
    backend = Quantified()
    return lambda one, other: equivalent(one, other, backend)

"""The technique: of the states behind a call that nobody can tell apart, one goes on (Li et al.).

States that came back from a call wait behind it until nobody is inside; then they are compared in one go, and
those that have a representative go (`settle`). Where nobody waits, a state is compared when it comes back
(`covers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from anabranch.explore.build import Parts
from anabranch.explore.coverage import BlockTable
from anabranch.explore.leaks import watches_heap
from anabranch.explore.protocols import Search
from anabranch.explore.search.plain import Bfs, Dfs, RandomState
from anabranch.explore.technique import Contract, Settled, Technique
from anabranch.machine import Events, State
from anabranch.reduce.zequivalence.callee_first import PATIENCE, CalleeFirst
from anabranch.reduce.zequivalence.calls import Call, Calls, CallTree
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.context import Tables
from anabranch.reduce.zequivalence.exact import equivalent
from anabranch.reduce.zequivalence.ledger import ZLedger
from anabranch.reduce.zequivalence.return_point import ReturnPoint
from anabranch.reduce.zequivalence.settings import ZSettings
from anabranch.reduce.zequivalence.verify import ShadowVerifier
from anabranch.solver.quantified import Quantified

TOGETHER = 64  # states behind a call that are compared in one go
EXACT_FROM = 8  # states behind a call, from which on the solver compares those that the rules tell apart
EXACT_PAIRS = 64  # questions for one call at most
SHARE = 0.2  # of a limited time that comparing may take; beyond it paths are better explored than compared


class Removal(NamedTuple):
    """A state behind a call that has a representative."""

    state: State
    representative: State
    call: Call
    exact: bool = False  # did the solver find it?


class ZEquivalence(Technique):
    """Removes a state behind a call if there is one that represents it."""

    name: ClassVar[str] = "zequivalence"
    contract: ClassVar[Contract] = Contract(
        keeps="every answer to satisfiability and validity queries of the callers",
        loses="tests of paths that others represent",
        serves=frozenset(("coverage", "bugs")),
        keeps_errors=True,
    )

    def __init__(self, parts: Parts, in_order: bool = False) -> None:
        """`in_order`: the search order has callees come before their callers by itself."""
        settings = parts.settings
        given = settings.group(ZSettings)
        self.ledger = ZLedger()
        super().__init__(parts)
        # In limited time calls may not come to their end: the search order knows what is worth it.
        hurried = settings.limits.time is not None and not given.wait
        self._at_once = hurried and not in_order
        make_order = None
        if not in_order and not hurried:
            make_order = worklists(settings.search.orders, settings.search.seed)
        self._tree = CallTree(make_order, given.wait or PATIENCE)
        self._calls = Calls(parts.machine, self.ledger, self._tree, given.observe == "function")
        self._tables = Tables(watches_heap(settings.errors.checks))
        self._exact = Quantified() if given.method == "exact" else None
        self._share = parts.budget.share(self.name, SHARE)
        self._verifier: ShadowVerifier | None = None
        if settings.search.verify_reductions:
            self._verifier = ShadowVerifier(parts.machine, self._wrong, lambda: parts.budget.time_is_up)
        self._asked = 0  # exact checks
        self._undecided = 0
        self._late = 0  # removed when their representative was gone already
        self._skipped = 0  # states that were not compared, for want of time

    # ---- before the run ------------------------------------------------------------------------------

    def listen(self, events: Events) -> None:
        events.entered.append(self._calls.entered)
        events.forked.append(self._calls.forked)
        events.returned.append(self._calls.returned)

    def instrument(self, table: BlockTable) -> None:
        table.count_every_call()

    def order(self, search: Search[State]) -> Search[State]:
        self._order = CalleeFirst(search, self._calls, self._at_once)
        return self._order

    # ---- operators -----------------------------------------------------------------------------------

    def covers(self, state: State) -> bool:
        """Is it behind a call where nobody waits, and has it a representative there?

        States that are held behind their call are compared later, with all others that came back: one after
        the other takes less time, because what they need is at hand.
        """
        call = self._calls.returned_from.get(state)
        if call is None or call.holds:
            return False
        for removal in self._compare([state], call):
            self._remove(removal)
            return True
        return False

    def covered(self, state: State) -> None:
        """Accounted for when its representative was found."""

    def settle(self) -> Iterator[Settled]:
        """States that have a representative go: when a call is over, and when many wait behind it."""
        tree = self._tree
        if not tree.stacked:
            for finished in tree.close_finished():
                self._calls.forget(finished)
            return
        if tree.at is not None and len(tree.at.fresh) >= TOGETHER:
            yield from self._drop(self._compare_fresh(tree.at))
        while (call := tree.complete()) is not None:
            yield from self._finish(call)

    def _drop(self, removals: list[Removal]) -> Iterator[Settled]:
        """Waiting states that go."""
        if removals:
            yield Settled([removal.state for removal in removals])
        for removal in removals:
            self._remove(removal)

    def _finish(self, call: Call) -> Iterator[Settled]:
        """Nobody is inside a call any more, or is waited for: of those behind it, the representatives go on
        in the worklist around it."""
        assert call.order is not None
        removals = self._compare_fresh(call)
        if self._exact is not None:
            gone = {removal.state for removal in removals}
            left = [state for state in call.held if state not in gone]
            removals += self._compare_exactly(call, left, self._exact)
        yield from self._drop(removals)
        if len(call.order):
            self._tree.opened += 1
        else:
            self._calls.forget(call)
        self._tree.close(call)
        self._order.release(call)

    def _remove(self, removal: Removal) -> None:
        """Account for a state that waits no more."""
        state, call = removal.state, removal.call
        representative = removal.representative
        if self._verifier is not None:
            self._verifier(representative, state, call)
        self.ledger.removed(call.site_row, call.row, removal.exact)
        if representative in self._tree.owner:
            representative.multiplicity += state.multiplicity
            self.parts.reporter.pruned(state, 0)
        else:
            self._late += 1
            self.parts.reporter.pruned(state, state.multiplicity)

    def _wrong(self, text: str) -> None:
        self.parts.reporter.losses.add("wrong removal")
        self.parts.listener.on_warning(text)

    # ---- comparing -----------------------------------------------------------------------------------

    def _compare_fresh(self, call: Call) -> list[Removal]:
        """Compare those that have come back from a call since the last time."""
        states, call.fresh = [state for state in call.fresh if state in call.held], []
        return self._compare(states, call) if states else []

    def _compare(self, states: list[State], call: Call) -> list[Removal]:
        """The states behind a call that show nothing new, with those that represent them, as far as there is
        time to look for these."""
        if not self._share.left():
            self._skipped += len(states)
            return []
        began = perf_counter()
        multiplicity = sum([state.multiplicity for state in states])
        self.ledger.came_back(call.site_row, call.row, len(states), multiplicity)
        found: list[Removal] = []
        point: ReturnPoint | None = None
        for state in states:
            point = point or self._point(call, state)
            kept = None if point is None else point.representative(state, call.arguments)
            if kept is not None:
                found.append(Removal(state, kept, call))
        spent = perf_counter() - began
        self._share.charge(spent)
        call.row.seconds += spent
        return found

    def _point(self, call: Call, state: State) -> ReturnPoint | None:
        """Where a state behind a call is compared; nothing needs to be known of the first one there."""
        scope = self._calls.scope(call)
        known = scope.return_points.get(call.location)
        if known is None:
            scope.return_points[call.location] = (state, call.arguments)
            return None
        if not isinstance(known, ReturnPoint):
            first, more = known
            known = scope.return_points[call.location] = ReturnPoint(scope, first, more, self._tables)
        return known

    def _compare_exactly(self, call: Call, states: list[State], solver: Quantified) -> list[Removal]:
        """Tight couplings: where many are left behind a call, the solver compares them by Definition 1."""
        point: Any = self._calls.scope(call).return_points.get(call.location)
        if len(states) < EXACT_FROM or not isinstance(point, ReturnPoint):
            return []  # few of them, or no time to compare them by rules
        began, questions = perf_counter(), EXACT_PAIRS
        found: list[Removal] = []
        by_names: dict[Any, list[tuple[State, StateConstraint]]] = {}
        for state in states:
            constraint = point.constraint(state, call.arguments)
            names = tuple([name for name, _, _ in constraint.outputs])
            others = by_names.setdefault((names, constraint.observable), [])
            for other, known in others:
                if not questions or not call.site_row.worth_asking:
                    break
                questions -= 1
                call.site_row.asked += 1
                self._asked += 1
                answer = equivalent(known, constraint, solver)
                self._undecided += answer is None
                if answer:
                    found.append(Removal(state, other, call, exact=True))
                    break
            else:
                others.append((state, constraint))
        call.row.seconds += perf_counter() - began
        return found

    # ---- figures -------------------------------------------------------------------------------------

    def figures(self) -> dict[str, Any]:
        rows = self.ledger.figures()
        found = {
            "functions": rows,
            "removed": sum(row["states"] - row["kept"] for row in rows),
            "late": self._late,
            "not compared": self._skipped,
            "seconds": sum(row["seconds"] for row in rows),
            "opened calls": self._tree.opened,
            "given up call sites": sum(site.closed for site in self.ledger.sites.values()),
        }
        if self._exact is not None:
            found |= {"exact checks": self._asked, "not answered": self._undecided}
        if self._verifier is not None:
            found |= {
                "verified": self._verifier.verified,
                "not decided": self._verifier.undecided,
                "wrong": self._verifier.differences,
            }
        return found


def worklists(names: tuple[str, ...], seed: int) -> Callable[[], Search[State]]:
    """Makes the worklists of calls: the order asked for if it is a plain one, else random as in the paper."""
    if names == ("dfs",):
        return Dfs
    if names == ("bfs",):
        return Bfs
    random = Random(seed)
    return lambda: RandomState(random)

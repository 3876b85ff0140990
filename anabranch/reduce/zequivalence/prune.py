"""The prune operator: of the states behind a call that nobody can tell apart, one goes on (Li et al.)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar

from anabranch.explore.protocols import Contract
from anabranch.machine import State
from anabranch.machine.translator.sites import ReturnSite
from anabranch.reduce.zequivalence.callee_first import CalleeFirst
from anabranch.reduce.zequivalence.calls import Call, Calls
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.context import Tables
from anabranch.reduce.zequivalence.ledger import ZLedger
from anabranch.reduce.zequivalence.return_point import ReturnPoint
from anabranch.reduce.zequivalence.verify import TwinVerifier

Exact = Callable[[StateConstraint, StateConstraint], bool | None]
"""Are two constraints z-equivalent, as the solver says? None if it gives up."""

TOGETHER = 64  # states behind a call that are compared in one go
EXACT_FROM = 8  # states behind a call, from which on the solver compares those that the rules tell apart
EXACT_PAIRS = 64  # questions for one call at most


class ZEquivalence:
    """Removes a state behind a call if there is one that represents it."""

    contract: ClassVar[Contract] = Contract(
        keeps="every answer to satisfiability and validity queries of the callers",
        loses="test inputs of the removed twins",
        serves=frozenset(("coverage", "bugs")),
    )

    def __init__(
        self,
        calls: Calls,
        search: CalleeFirst,
        ledger: ZLedger,
        tables: Tables,
        removed: Callable[[State, int], None],
        exact: Exact | None = None,
        share: float = 1.0,
    ) -> None:
        """`share`: of the run's time that detection may take. Where a state has thousands of objects and time
        is short, paths are better explored than compared."""
        self.calls = calls
        self.search = search
        self.ledger = ledger
        self.tables = tables
        self.exact = exact
        self.verifier: TwinVerifier | None = None
        self.asked = 0  # exact checks
        self.undecided = 0
        self.late = 0  # removed when their representative was gone already
        self.skipped = 0  # states that were not compared, for want of time
        self._share = share
        self._began = perf_counter()
        self._spent = 0.0
        self._questions = 0  # that may still be asked for the call that is over
        self._removed = removed
        search.over = self.over

    def covers(self, state: State) -> bool:
        """Is it behind a call, and has it a representative there?

        States that are held there anyway are compared later, with all others that came back: one after the
        other takes less time, because what they need is at hand.
        """
        if state.entry.__class__ is not ReturnSite:
            return False
        call = self.calls.returning
        if call is None:
            return False
        self.calls.returning = None
        if self.search.holds(call):
            if len(call.fresh) >= TOGETHER:
                self._compare_fresh(call)
            call.fresh.append(state)
        else:
            for _, kept in self._compare([state], call):
                self._remove(state, kept, call)
                return True
        self.search.holding = call
        return False

    def _compare_fresh(self, call: Call) -> None:
        """Compare those that have come back from a call since the last time."""
        search = self.search
        states, call.fresh = [state for state in call.fresh if search.waits(state)], []
        for state, kept in self._compare(states, call) if states else ():
            # The very last one goes on in any case: somebody was promised a state.
            if len(search) > 1:
                search.remove(state)
                self._remove(state, kept, call)

    def _compare(self, states: list[State], call: Call) -> list[tuple[State, State]]:
        """The states behind a call that show nothing new, with those that represent them, as far as there is
        time to look for these."""
        began = perf_counter()
        if self._spent > self._share * (began - self._began):
            self.skipped += len(states)
            return []
        multiplicity = sum([state.multiplicity for state in states])
        self.ledger.came_back(call.site_row, call.row, len(states), multiplicity)
        found: list[tuple[State, State]] = []
        for state in states:
            point = self._point(call, state)
            kept = None if point is None else point.representative(state, call.arguments)
            if kept is not None:
                found.append((state, kept))
        spent = perf_counter() - began
        self._spent += spent
        call.row.seconds += spent
        return found

    def _point(self, call: Call, state: State) -> ReturnPoint | None:
        """Where a state behind a call is compared; nothing needs to be known of the first one there."""
        scope = self.calls.scope(call)
        known = scope.return_points.get(call.location)
        if known is None:
            scope.return_points[call.location] = (state, call.arguments)
            return None
        if known.__class__ is tuple:
            known = scope.return_points[call.location] = ReturnPoint(scope, known[0], known[1], self.tables)
        return known

    def _remove(self, state: State, kept: State, call: Call, exact: bool = False) -> None:
        if self.verifier is not None:
            self.verifier(kept, state, call)
        self.ledger.removed(call.site_row, call.row, exact)
        if self.search.waits(kept):
            kept.multiplicity += state.multiplicity
            self._removed(state, 0)
        else:
            self.late += 1
            self._removed(state, state.multiplicity)

    # ---- tight couplings -----------------------------------------------------------------------------

    def over(self, call: Call) -> None:
        """Nobody is inside any more, or is waited for: who is behind the call goes on when all are compared.
        Where many are left, the solver compares them."""
        self._compare_fresh(call)
        if self.exact is None or len(call.held) < EXACT_FROM:
            return
        began = perf_counter()
        point: Any = self.calls.scope(call).return_points.get(call.location)
        if not isinstance(point, ReturnPoint):
            return  # there was no time to compare them
        self._questions = EXACT_PAIRS
        by_names: dict[Any, list[tuple[State, StateConstraint]]] = {}
        for state in list(call.held):
            constraint = point.constraint(state, call.arguments)
            names = tuple([name for name, _, _ in constraint.outputs])
            others = by_names.setdefault((names, constraint.observable), [])
            kept = self._exact_representative(constraint, others, call)
            if kept is None:
                others.append((state, constraint))
            else:
                self.search.remove(state)
                self._remove(state, kept, call, exact=True)
        call.row.seconds += perf_counter() - began

    def _exact_representative(
        self, constraint: StateConstraint, others: list[tuple[State, StateConstraint]], call: Call
    ) -> State | None:
        assert self.exact is not None
        for state, other in others:
            if not self._questions or not call.site_row.worth_asking:
                break
            self._questions -= 1
            call.site_row.asked += 1
            self.asked += 1
            answer = self.exact(other, constraint)
            if answer:
                return state
            self.undecided += answer is None
        return None

    def figures(self) -> dict[str, Any]:
        """What the run's summary tells."""
        rows = self.ledger.figures()
        found = {
            "functions": rows,
            "removed": sum(row["states"] - row["kept"] for row in rows),
            "late": self.late,
            "not compared": self.skipped,
            "seconds": sum(row["seconds"] for row in rows),
            "opened calls": self.search.opened,
            "given up call sites": sum(site.closed for site in self.ledger.sites.values()),
        }
        if self.exact is not None:
            found |= {"exact checks": self.asked, "not answered": self.undecided}
        if self.verifier is not None:
            found |= {
                "verified": self.verifier.verified,
                "not decided": self.verifier.undecided,
                "wrong": self.verifier.differences,
            }
        return found

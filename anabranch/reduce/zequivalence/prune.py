"""The prune operator: of states that nobody behind a call can tell apart, one goes on (seed 000)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, ClassVar

from anabranch.explore.protocols import Contract
from anabranch.machine import State
from anabranch.machine.translator.sites import ReturnSite
from anabranch.reduce.zequivalence.callee_first import CalleeFirst
from anabranch.reduce.zequivalence.calls import Call, Calls, Meeting, meeting_place
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.glance import Alike, Glance, Group
from anabranch.reduce.zequivalence.ledger import ZLedger
from anabranch.reduce.zequivalence.parts import PartForms
from anabranch.reduce.zequivalence.state import Encoder
from anabranch.reduce.zequivalence.verify import TwinVerifier

Exact = Callable[[StateConstraint, StateConstraint], bool | None]
"""Are two constraints z-equivalent, as the solver says? None if it gives up."""

FORMED_ANEW = 64
FEW = 4  # of those that wait for their forms, where these find nothing
TOGETHER = 64  # states behind a call that are compared in one go
EXACT_FROM = 8  # states behind a call, from which on the solver compares those that the rules tell apart
EXACT_PAIRS = 64  # questions for one call at most


class ZEquivalence:
    """Removes a state behind a call if its constraint has the form of one that was there before."""

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
        encoder: Encoder,
        removed: Callable[[State, int], None],
        exact: Exact | None = None,
        share: float = 1.0,
    ) -> None:
        """`share`: of the run's time that looking for twins may take. Where a state has thousands of objects
        and time is short, the paths are better gone than compared."""
        self.calls = calls
        self.search = search
        self.ledger = ledger
        self.encoder = encoder
        self.exact = exact
        self.verifier: TwinVerifier | None = None
        self.asked = 0  # exact checks
        self.undecided = 0
        self.late = 0  # removed when the state that stands for them was gone already
        self.skipped = 0  # states that were not compared, for want of time
        self._share = share
        self._began = perf_counter()
        self._spent = 0.0
        self._removed = removed
        self._forms = PartForms()
        search.over = self.over

    def covers(self, state: State) -> bool:
        """Is it behind a call, and has one like it been there?

        Who is held there anyway is compared later, with all others that came back: one after the other that
        takes less time, because what they need is at hand.
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
            for _, kept, _ in self._compare([state], call):
                self._remove(state, kept, call)
                return True
        self.search.holding = call
        return False

    def _compare_fresh(self, call: Call) -> None:
        """Compare those that have come back from a call since the last time."""
        search = self.search
        states, call.fresh = [state for state in call.fresh if search.waits(state)], []
        if states:
            for state, kept, meeting in self._compare(states, call):
                # The very last one goes on in any case: somebody was promised a state.
                if len(search) > 1:
                    search.remove(state)
                    self._remove(state, meeting.standing(kept), call)

    def _compare(self, states: list[State], call: Call) -> list[tuple[State, State, Meeting]]:
        """The states behind a call that show nothing new, with those that were there before, if there is
        time to look for them."""
        began = perf_counter()
        if self._spent > self._share * (began - self._began):
            self.skipped += len(states)
            return []
        found: list[tuple[State, State, Meeting]] = []
        self.ledger.came_back(
            call.place, call.row, len(states), sum([state.multiplicity for state in states])
        )
        scope = self.calls.scope(call)
        site = continuation = None
        for state in states:
            if state.entry is not site or state.continuation is not continuation:
                site, continuation = state.entry, state.continuation
                meeting = scope.meeting(meeting_place(site, continuation, scope))
            kept = self._twin(state, call, scope, meeting)
            if kept is not None:
                found.append((state, kept, meeting))
        spent = perf_counter() - began
        self._spent += spent
        call.row.seconds += spent
        return found

    def _twin(self, state: State, call: Call, scope: Call, meeting: Meeting) -> State | None:
        """The kept state that shows all that this one could."""
        glance: Glance = meeting.glance
        if glance is None:
            first, meeting.first = meeting.first, state
            if first is None:
                return None  # looked at when there is a second
            self.encoder.prepare(first, scope, meeting)
            glance = meeting.glance
            self._twin(first, call, scope, meeting)
        looks = glance.looks(state)
        if looks is None:
            glance.others = True
            return self._form_all(glance.groups(), state, call, scope, meeting)
        more = call.arguments
        looked = (glance.seen_with(more) if more else glance.seen).get(looks)
        alike = None if looked is None else glance.alike.get(looked)
        new = alike is None
        if alike is None:
            alike = glance.alike_to(state, looks, looked, more, self.encoder.pages)
        condition = alike.condition(state)
        kept = alike.stands.get(condition)
        if kept is not None:
            return meeting.standing(kept) if meeting.stands else kept
        kept = self._look(state, alike, new, call, scope, meeting)
        alike.stands[condition] = kept or state
        return kept

    def _look(
        self, state: State, alike: Alike, new: bool, call: Call, scope: Call, meeting: Meeting
    ) -> State | None:
        """The one that stands for a state with new looks, or with a condition that was not there before."""
        glance, place = meeting.glance, call.place
        only = new and len(glance.alike) == 1 and not glance.others
        if only or not place.worth_forming():
            glance.wait(state, alike)
            return None
        group = glance.group(state, alike)
        if new and not group.formed and not group.unformed and not glance.others:
            group.unformed.append((state, alike))
            place.alone()
            return None
        return self._form_all((group,), state, call, scope, meeting, alike)

    def _form_all(
        self,
        groups: Iterable[Group],
        state: State,
        call: Call,
        scope: Call,
        meeting: Meeting,
        alike: Alike | None = None,
    ) -> State | None:
        """Keep the forms of a state and of those that were kept without; the one that had it, if any."""
        place = call.place
        for group in groups:
            group.formed = True
            before, group.unformed = group.unformed[-(FORMED_ANEW if place.pays else FEW) :], []
            for other, looked in before:
                kept = self._form(other, call, scope, meeting, looked)
                place.formed(kept is not None)
                if kept is not None:
                    self._replaced(other, kept, call, meeting)
        kept = self._form(state, call, scope, meeting, alike)
        place.formed(kept is not None)
        return kept

    def _replaced(self, state: State, kept: State, call: Call, meeting: Meeting) -> None:
        """One that was kept goes after all, unless it is gone already."""
        if self.search.waits(state):
            meeting.stands[state] = kept
            self.search.remove(state)
            self._remove(state, kept, call)

    def _form(
        self, state: State, call: Call, scope: Call, meeting: Meeting, alike: Alike | None = None
    ) -> State | None:
        """Keep the form of a state; the one that had it already, if any."""
        encoded = self.encoder.encode(state, scope, meeting, call.arguments, alike)
        if meeting.common.grown:
            self._form_anew(call, scope, meeting)
        kept = meeting.forms.setdefault(self._forms.form(encoded), state)
        if kept is not state:
            return kept
        meeting.kept[state] = encoded, alike
        return None

    def _form_anew(self, call: Call, scope: Call, meeting: Meeting) -> None:
        """Something has changed on a path that had not on those before: it is now an output of all.

        Where there are many, the oldest ones are no longer compared with.
        """
        meeting.common.grown = False
        meeting.forms.clear()
        before = list(meeting.kept.items())[-FORMED_ANEW:]
        meeting.kept.clear()
        for state, (_, alike) in before:
            encoded = self.encoder.encode(state, scope, meeting, call.arguments, alike)
            other = meeting.forms.setdefault(self._forms.form(encoded), state)
            if other is state:
                meeting.kept[state] = encoded, alike
            else:
                self._replaced(state, other, call, meeting)

    def _remove(self, state: State, kept: State, call: Call, exact: bool = False) -> None:
        if self.verifier is not None:
            self.verifier(kept, state, call)
        self.ledger.removed(call.place, call.row, exact)
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
        scope, place = self.calls.scope(call), call.place
        began = perf_counter()
        groups: dict[Any, list[tuple[State, StateConstraint]]] = {}
        pairs = EXACT_PAIRS
        for state in list(call.held):
            site: Any = state.entry
            meeting = scope.meeting(meeting_place(site, state.continuation, scope))
            if meeting.glance is None:
                continue  # the only one there
            known = meeting.kept.get(state)
            if known is None:
                known = self.encoder.encode(state, scope, meeting, call.arguments), None
            constraint = known[0].constraint()
            names = tuple(name for name, _, _ in constraint.outputs)
            alike = groups.setdefault((names, constraint.observable), [])
            for kept, other in alike:
                if not pairs or not place.worth_asking:
                    break
                pairs -= 1
                self.asked += 1
                place.asked += 1
                answer = self.exact(other, constraint)
                if answer is None:
                    self.undecided += 1
                elif answer:
                    meeting.stands[state] = kept
                    self.search.remove(state)
                    self._remove(state, kept, call, exact=True)
                    break
            else:
                alike.append((state, constraint))
        call.row.seconds += perf_counter() - began

    def figures(self) -> dict[str, Any]:
        """What the run's summary tells."""
        rows = self.ledger.figures()
        return {
            "functions": rows,
            "removed": sum(row["states"] - row["kept"] for row in rows),
            "late": self.late,
            "not compared": self.skipped,
            "seconds": sum(row["seconds"] for row in rows),
            "opened calls": self.search.opened,
            "given up call sites": sum(place.closed for place in self.ledger.places.values()),
            **self._more_figures(),
        }

    def _more_figures(self) -> dict[str, int]:
        found: dict[str, int] = {}
        if self.exact is not None:
            found |= {"exact checks": self.asked, "not answered": self.undecided}
        if self.verifier is not None:
            found |= {
                "verified": self.verifier.verified,
                "not decided": self.verifier.undecided,
                "wrong": self.verifier.differences,
            }
        return found

"""Proves a summary, round by round: the machine runs each round and comes to what the summary says.

The state at the beginning of a round is made from the summary, and run up to where the round ends. All that
comes to the header or behind the loop must be the state that the summary has there, and the other way round
(`Verifier`: all inputs, all values). What is made of these rounds is proved like any merge of many states.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anabranch.explore.build import Parts
from anabranch.expr import Expr, eq, ite, not_
from anabranch.machine import State
from anabranch.machine.joining.chains import as_condition
from anabranch.machine.joining.paths import assume
from anabranch.machine.translator.sites import Target
from anabranch.reduce.loops.summaries.candidates import Candidate
from anabranch.reduce.loops.summaries.leaving import Exit, gone_on
from anabranch.reduce.loops.summaries.rounds import Leg, Rounds, Row
from anabranch.reduce.merging.verify import Verifier
from anabranch.reduce.shadow import Shadow

Value = Any


class Proof:
    """Of the summary for one state."""

    def __init__(
        self, parts: Parts, verifier: Verifier, state: State, rounds: Rounds, candidate: Candidate
    ) -> None:
        self._space = parts.space
        self._verifier = verifier
        self._state = state
        self._rounds = rounds
        self._counters = [c.local for c in candidate.counters]
        self._shadow = Shadow(parts.machine, lambda: parts.budget.time_is_up)
        entry: Any = state.entry
        self._header: Target = entry
        self._unit = entry.unit

    def rounds(self) -> None:
        """Each round comes to the next one, behind the loop, or to where the summary is stuck."""
        rounds, position = self._rounds, self._rounds.position
        for number, row in enumerate(rounds.rows):
            w = position.first + number
            stuck = rounds.stuck[w].condition if w in rounds.stuck else False
            said = [*rounds.before(w), position.reached(w), not_(stuck)]
            here = self._restricted(self._state, said, self._header, row)
            if here is None:
                continue
            if not position.fixed:
                entering = self._restricted(self._state, [*said, position.enters(w)], self._header, {})
                there = self._restricted(here, [position.enters(w)], self._header, row)
                if entering is not None and there is not None:
                    self._verifier.merged([entering], there)
            self._round(w, here)

    def _round(self, w: int, here: State) -> None:
        rounds = self._rounds
        places: dict[int, list[tuple[Target, Leg]]] = {}
        if rounds.spine[w - rounds.position.first].condition is not False:
            spine = rounds.spine[w - rounds.position.first]
            after = Leg(spine.ways, spine.condition, rounds.rows[w + 1 - rounds.position.first], spine.sets)
            places[self._header.place] = [(self._header, after)]
        for (_, block), by_position in rounds.legs.items():
            if w in by_position:
                target = self._unit.target(("block", block))
                places.setdefault(target.place, []).append((target, by_position[w]))
        found = self._run(here, {*places, self._header.place})
        for place, legs in places.items():
            came = [state for state in found if state.place == place]
            wanted = self._together(here, legs)
            if wanted is not None and came:
                self._verifier.merged(came, wanted)
            elif wanted is not None or came:
                self._verifier.wrong(
                    f"a round of the loop at block {self._header.place} ends where its summary does not"
                )
        if any(state.place not in places for state in found):
            self._verifier.wrong(
                f"a round of the loop at block {self._header.place} goes on where its summary does not"
            )

    def _run(self, here: State, places: set[int]) -> list[State]:
        """What a state comes to in one round."""
        pending, found = [here], list[State]()
        before = self._positions(here)
        while pending:
            state = pending.pop()
            seen = self._shadow.explore(state, places)
            if seen is None or seen.ends:
                self._verifier.wrong(f"the loop at block {here.place} ends in its body")
                return []
            for came in self._shadow.arrived:
                again = came.place == here.place and self._positions(came) == before
                (pending if again else found).append(came)
        return found

    def _positions(self, state: State) -> list[Any]:
        named = zip(self._header.names, state.values, strict=True)
        return [
            id(v) if v.__class__ is Expr else v
            for name, v in named
            if name[1:].isdigit() and int(name[1:]) in self._counters
        ]

    def _together(self, here: State, legs: list[tuple[Target, Leg]]) -> State | None:
        """The state of all that leave the loop for one block in a round."""
        (target, last), *others = legs
        condition, row = last.condition, dict(last.row)
        for _, leg in others:
            condition = not_(ite(condition, False, not_(leg.condition), 1))
            for local, value in leg.row.items():
                width = self._unit.plan.locals[local].type.bits
                row[local] = ite(leg.condition, value, row[local], width)
        return self._restricted(here, [condition], target, row)

    def exit(self, leaving: Exit, made: State, t: Expr) -> None:
        """The states that leave by one edge in each round are the one that is made of them."""
        sides, facts = [], []
        for number, leg in enumerate(leaving.legs):
            side = self._restricted(self._state, leaving.part(number), made.entry, leg.row)
            if side is not None:
                sides.append(side)
                facts.append(eq(t, number, t.w))
        self._verifier.merged(sides, made, facts)

    def _restricted(self, state: State, conditions: Iterable[Any], entry: Any, row: Row) -> State | None:
        """A state with more conditions, and other values of some locals; None if there is no such input."""
        slices = dict(state.slices)
        for item in conditions:
            condition = as_condition(item)
            if condition is False or (condition is not True and not assume(slices, condition, self._space)):
                return None
        kept = dict(zip(self._header.names, self._state.values, strict=True))
        values = tuple(
            row[int(name[1:])] if name[1:].isdigit() and int(name[1:]) in row else kept[name]
            for name in entry.names
        )
        return gone_on(state, entry, values, state.condition, slices.values())

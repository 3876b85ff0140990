"""Loops whose rounds are all followed at once, without asking the solver inside them.

A state that comes to the header of a loop that may be summarised waits there. In static merging until it is
the one that is furthest behind, so that others have come and are merged with it. Then it becomes the states
that have left the loop, one for each edge that leaves it. A loop that cannot be followed is run as ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from anabranch.explore.build import Parts
from anabranch.explore.technique import EXACT, Contract, Settled, Technique
from anabranch.explore.worklist import Index
from anabranch.expr import Expr
from anabranch.machine import Events, State
from anabranch.machine.joining import CannotJoin
from anabranch.machine.joining.chains import as_condition
from anabranch.machine.joining.paths import assume
from anabranch.machine.joining.pending_tests import PendingTest
from anabranch.machine.state import Continuation, Slot
from anabranch.machine.translator.sites import Target
from anabranch.machine.translator.unit import Unit
from anabranch.reduce.loops.report import MOST_PATTERNS
from anabranch.reduce.loops.summaries.body import Body, Stuck
from anabranch.reduce.loops.summaries.candidates import Candidate, candidates
from anabranch.reduce.loops.summaries.leaving import Exit, stuck_state
from anabranch.reduce.loops.summaries.proof import Proof
from anabranch.reduce.loops.summaries.readable import readable
from anabranch.reduce.loops.summaries.reader import Reader
from anabranch.reduce.loops.summaries.rounds import WITNESSES, Leg, Rounds, follow
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.settings import MergingSettings
from anabranch.solver import SolverUnknown, conjunction

Value = Any
REFUSALS = 3  # of a loop, after which it is left alone


class LoopSummaries(Technique):
    """Stops states that enter a loop, and lets them go on behind it."""

    name: ClassVar[str] = "summaries"
    contract: ClassVar[Contract] = EXACT

    def __init__(
        self, parts: Parts, merging: Merging, next_in_order: Callable[[], State | None] | None = None
    ) -> None:
        """`next_in_order`: if states wait for others, the one that waits no longer."""
        super().__init__(parts)
        self.made: Counter[int] = Counter()
        """Summaries by the counter of the header."""
        self.refused: Counter[str] = Counter()
        self._patterns: dict[int, dict[str, None]] = {}  # readable, by the counter of the header
        self._shows_patterns = parts.settings.group(MergingSettings).report
        self._merging = merging
        self._next_in_order = next_in_order
        self._candidates: dict[int, Candidate] = {}  # by the counter of the header
        self._refusals: Counter[int] = Counter()
        self._round_as_ever: Slot[frozenset[int]] = parts.machine.extras.slot(
            frozenset(), lambda a, b, mine, other: mine | other
        )
        """The headers of loops that the path goes round as ever."""
        self._entering = Index(lambda state: self._enters(state) or None)

    @property
    def indexes(self) -> Sequence[Index]:
        return () if self._next_in_order is not None else (self._entering,)

    # ---- the running path ----------------------------------------------------------------------------

    def listen(self, events: Events) -> None:
        program = self.parts.machine.program
        for unit in program.units.values():
            self._look_at(unit)
        program.new_units.append(self._look_at)
        events.arrived.append(self._arrived)

    def _look_at(self, unit: Unit) -> None:
        for header, candidate in candidates(unit.function).items():
            number = unit.counters.segments[header, 0]
            self._candidates[number] = candidate
            self.parts.machine.stops.install(number)

    def _arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        machine = self.parts.machine
        return (
            number in self._candidates
            and not machine.stops.suspended
            and number not in self._round_as_ever.get(machine.path)
        )

    # ---- the operator --------------------------------------------------------------------------------

    def settle(self) -> Iterator[Settled]:
        """States that enter loops, in static merging in topological order."""
        if self.parts.machine.stops.suspended:
            return
        while (state := self._next()) is not None:
            try:
                made = self._behind(state, self._candidates[state.place])
            except (Stuck, CannotJoin, SolverUnknown) as refusal:
                self._refuse(state, str(refusal) or "solver gave up")
                continue
            self.made[state.place] += 1
            yield Settled([state], made)

    def _next(self) -> State | None:
        """The next state to be summarised."""
        if self._next_in_order is not None:
            first = self._next_in_order()
            return first if first is not None and self._enters(first) else None
        return next((state for state in self._entering.at(True) if self._enters(state)), None)

    def _enters(self, state: State) -> bool:
        entry, candidate = state.entry, self._candidates.get(state.place)
        return (
            candidate is not None
            and isinstance(entry, Target)
            and entry.key == ("block", candidate.loop.header)
            and state.place not in self._round_as_ever.get(state)
        )

    def _refuse(self, state: State, reason: str) -> None:
        self.refused[reason] += 1
        self._round_as_ever.put(state, self._round_as_ever.get(state) | {state.place})
        self._refusals[state.place] += 1
        if self._refusals[state.place] == REFUSALS:
            del self._candidates[state.place]

    def _behind(self, state: State, candidate: Candidate) -> list[State]:
        """The states behind the loop; Stuck, and nothing is changed, if there is no summary."""
        parts, machine = self.parts, self.parts.machine
        entry: Any = state.entry
        unit: Unit = entry.unit
        machine.path.restore(state)
        body = Body(candidate.loop, unit, machine, Reader(machine).load)
        rounds = follow(state, body, candidate, parts.space.leaves)
        run_through = self._run_through(state, unit, rounds)
        paths = rounds.paths()
        made: list[State] = []
        exits: list[tuple[Exit, State, Expr]] = []
        for edge, legs in rounds.legs.items():
            leaving = Exit(state, rounds, legs, parts.space)
            found = leaving.state(unit.target(("block", edge[1])))
            if found is not None:
                self._show(state.place, rounds, legs)
                left, t = found
                left.extras = self._armed(state, unit, edge[0])
                left.multiplicity = state.multiplicity * sum(
                    paths[w] * len(legs[w].ways) for w in leaving.positions
                )
                made.append(left)
                exits.append((leaving, left, t))
        for w in rounds.stuck:
            rest = stuck_state(state, rounds, w, parts.space)
            if rest is not None:
                rest.multiplicity = state.multiplicity * paths[w] * len(rounds.stuck[w].ways)
                self._round_as_ever.put(rest, self._round_as_ever.get(rest) | {rest.place})
                made.append(rest)
        if not made:
            raise Stuck("no input leaves the loop")
        if self._merging.verifier is not None:
            proof = Proof(parts, self._merging.verifier, state, rounds, candidate)
            proof.rounds()
            for leaving, left, t in exits:
                proof.exit(leaving, left, t)
        self._cover(run_through, made)
        for other in made[1:]:
            other.node = parts.tree.fork(state.node, state.place, True)
            other.number = other.node.number
        return made

    def _armed(self, state: State, unit: Unit, block: int) -> tuple[Any, ...]:
        """What the state keeps, with the join points armed that a fork in a block arms."""
        path = self.parts.machine.path
        path.extras = state.extras
        self._merging.join_points.arm(unit.point(block, 0), state.continuation)
        return path.extras

    # ---- coverage ------------------------------------------------------------------------------------

    def _run_through(self, state: State, unit: Unit, rounds: Rounds) -> dict[int, Value]:
        """The counters of what the rounds run through, each with a condition under which a path does; True
        where that is known already."""
        counts, counters = self.parts.machine.counters.N, unit.counters
        inside = {edge[0] for edge in rounds.taken}
        found: dict[int, Value] = {state.place: True}
        for edge, witnesses in rounds.taken.items():
            numbers = [counters.edges[edge]] if edge in counters.edges else []
            if edge[1] in inside:
                numbers.append(counters.segments[edge[1], 0])
            shown: Value = True
            if not all(counts[number] for number in numbers):
                shown = self._shown(state, rounds, witnesses)
            if shown is not False:
                found |= {number: shown for number in numbers if found.get(number) is not True}
        return found

    def _shown(self, state: State, rounds: Rounds, witnesses: Sequence[tuple[int, Value]]) -> Value:
        """A condition under which a path is one of the witnesses; False if none can be."""
        for w, condition in witnesses:
            said = [*map(as_condition, rounds.before(w)), rounds.position.reached(w), condition]
            slices = dict(state.slices)
            if all(c is True or (c is not False and assume(slices, c, self.parts.space)) for c in said):
                return conjunction(said)
        if len(witnesses) == WITNESSES:
            raise Stuck("code that none of many ways comes to")
        return False

    def _cover(self, run_through: dict[int, Value], made: Sequence[State]) -> None:
        """Count it, and see to a test of what is new."""
        counts, tests = self.parts.machine.counters.N, dict[int, PendingTest]()
        for number, condition in run_through.items():
            count = counts[number]
            if not count:
                tests.setdefault(id(condition), PendingTest(condition))
            counts[number] = type(count)(int(count) + 1)  # a stop stays one, and does not hear of it
        self.parts.new_coverage.check()
        if self.parts.reporter.covers:
            for state in made:
                state.pending_tests = (*state.pending_tests, *tests.values())

    # ---- figures -------------------------------------------------------------------------------------

    def _show(self, header: int, rounds: Rounds, legs: Mapping[int, Leg]) -> None:
        """Keep what a loop came to by one edge for the report."""
        known = self._patterns.setdefault(header, {})
        if self._shows_patterns and len(known) < MOST_PATTERNS:
            found = readable(rounds, legs)
            if found is not None:
                known[found] = None

    def figures(self) -> dict[str, Any]:
        describe = self.parts.table.describe
        return {
            "summaries": self.made.total(),
            "refused": dict(self.refused),
            "loops": [
                {"location": describe(n), "summaries": number, "patterns": list(self._patterns.get(n, ()))}
                for n, number in self.made.most_common()
            ],
        }

"""The states that a summarised loop makes of one that enters it: one for each edge that leaves it.

They are what `join_many` would make of the states that leave by that edge in each round, in the same
representation: a number says in which round, values are functions of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

from anabranch.expr import Expr
from anabranch.expr.node import round_number
from anabranch.machine.joining.chains import as_condition
from anabranch.machine.joining.history_tree import Edge as Stretch
from anabranch.machine.joining.many import Columns
from anabranch.machine.joining.numbered import Numbered, connected, constraints_of, number_width, sides_of
from anabranch.machine.joining.paths import assume
from anabranch.machine.state import Cons, State
from anabranch.machine.translator.sites import Target
from anabranch.reduce.loops.summaries.rounds import Leg, Rounds, still_open
from anabranch.solver import Slice, SliceSpace
from anabranch.solver.backend import Model
from anabranch.solver.disjunction import components
from anabranch.solver.slices import MODELS_KEPT
from anabranch.solver.valuation import VALUATIONS
from anabranch.solver.valuesets import ValueSet, contains, intersect, listed, lowest, nearest

Value = Any
NODES_LIMIT = 1 << 20  # of constraints to evaluate under one model


class Exit:
    """All rounds in which a loop is left by one edge."""

    def __init__(self, state: State, rounds: Rounds, legs: Mapping[int, Leg], space: SliceSpace) -> None:
        self._state = state
        self._rounds = rounds
        self._legs = legs
        self._space = space
        self._items = {w: leg.reached(rounds.position.reached(w)) for w, leg in legs.items()}
        """The path condition of leaving in each round, on top of what the rounds before say."""
        self.positions = tuple(w for w in sorted(legs) if self._items[w] is not False)

    @property
    def legs(self) -> list[Leg]:
        """Of each round in which the loop may be left."""
        return [self._legs[w] for w in self.positions]

    def part(self, number: int) -> list[Any]:
        """The path condition of those that leave in one of the rounds, on top of that of the state."""
        w = self.positions[number]
        return [*self._rounds.before(w), self._items[w]]

    def state(self, target: Target) -> tuple[State, Expr] | None:
        """The state behind the loop with the number of its round; None if nobody leaves that way."""
        if not self.positions:
            return None
        state, space, last = self._state, self._space, len(self.positions) - 1
        stretches = self._stretches()
        t = round_number(number_width(last))
        said = list(constraints_of(t, stretches))
        variables = connected(said, t, [state.slices])
        parts = dict.fromkeys(state.slices[v] for v in variables)
        constraints = list(dict.fromkeys((*(c for part in parts for c in part.order), *said)))
        models = RoundModels(
            t.a, self._rounds, self.positions, self._legs, self._start(variables), state.slices
        )
        known = self._models(models, constraints)
        if not known:
            return None
        bounds = {v: state.slices[v].bounds[v] for v in variables} | {t.a: listed(range(last + 1), t.w)}
        slices = tuple(map(space.intern, components(bounds, known, constraints)))
        space.keep_leaves(t.a, models)
        history = (Numbered(sides_of(stretches, t, range(last + 1)), said, slices), state.condition)
        return gone_on(state, target, self._values(target, t), history, slices), t

    def _stretches(self) -> list[Stretch]:
        """The tree of the histories that leave: a spine, and a leg for each round."""
        position, last = self._rounds.position, len(self.positions) - 1
        before = self._rounds.before(self.positions[-1])
        found, start = [], position.first
        for number, w in enumerate(self.positions):
            spine = before[start - position.first : w - position.first]
            found.append(Stretch(number, last, tuple(still_open(spine))))
            found.append(Stretch(number, number, tuple(still_open([self._items[w]]))))
            start = w
        return found

    def _start(self, variables: Iterable[int]) -> Model:
        """A model of the state, in which the loop is entered as early as possible."""
        slices = self._state.slices
        found = {v: slices[v].model[v] for v in variables}
        for v, factor in self._rounds.position.entry.terms:
            leaves = self._space.leaves.get(v)
            if leaves is not None and factor > 0:
                earliest = leaves.model(lowest(slices[v].bounds[v]))
                found |= {w: value for w, value in earliest.items() if w in found}
        return found

    def _models(self, models: RoundModels, constraints: Sequence[Expr]) -> list[Model]:
        """Some models of rounds far apart; one of the solver's if there are none."""
        last = len(self.positions) - 1
        some = dict.fromkeys(last * i // (MODELS_KEPT - 1) for i in range(MODELS_KEPT))
        found = [m for m in map(models.model, some) if VALUATIONS.hold(constraints, m, NODES_LIMIT)]
        if not found:
            solved = self._space.check(constraints)
            if solved is not None:
                found.append(models.model(0) | solved)
        return found

    def _values(self, target: Target, t: Expr) -> tuple[Value, ...]:
        """The live values behind the loop, as functions of the number."""
        entry: Any = self._state.entry
        kept = dict(zip(entry.names, self._state.values, strict=True))
        rows = [
            tuple(
                kept[name] if name in ("D", "va") else self._legs[w].row[int(name[1:])]
                for name in target.names
            )
            for w in self.positions
        ]
        return Columns(t, range(len(rows))).frame(target, rows)


class RoundModels:
    """For each round in which a loop is left, what is likely to be a model, made when it is asked for."""

    def __init__(
        self, number: int, rounds: Rounds, positions: Sequence[int], legs: Mapping[int, Leg], start: Model,
        slices: Mapping[int, Slice],
    ) -> None:  # fmt: skip
        """`start`: a model of the state that enters the loop."""
        self._number = number
        self._rounds = rounds
        self._positions = positions
        self._legs = legs
        self._start = start
        self._slices = slices
        self.numbers: Sequence[int] = range(len(positions))
        """See NumberedModels."""

    def __contains__(self, number: int) -> bool:
        return 0 <= number < len(self._positions)

    def sets(self, number: int) -> Mapping[int, ValueSet]:
        """See NumberedModels."""
        return self._rounds.sets[self._positions[number] - self._rounds.position.first]

    def model(self, number: int) -> Model:
        """The model of the beginning, with other values of the variables that the rounds decide on."""
        w, first = self._positions[number], self._rounds.position.first
        entered = max(first, self._rounds.position.at(self._start))
        wanted: dict[int, ValueSet] = {}
        for leg in (*self._rounds.spine[entered - first : w - first], self._legs[w]):
            for v, values in leg.sets.items():
                known = wanted.get(v)
                wanted[v] = values if known is None or known is values else intersect(known, values) or values
        found = {self._number: number} | self._start
        for v, values in wanted.items():
            if v in found and not contains(values, found[v]):
                found[v] = nearest(intersect(values, self._slices[v].bounds[v]) or values, found[v])
        return found


def stuck_state(state: State, rounds: Rounds, w: int, space: SliceSpace) -> State | None:
    """The state of the inputs that come to something in a round that the machine has to see to, at the header
    in that round; None if there are none."""
    leg = rounds.stuck[w]
    added = [*rounds.before(w), leg.reached(rounds.position.reached(w))]
    slices = dict(state.slices)
    if not all(c is True or (c is not False and assume(slices, c, space)) for c in map(as_condition, added)):
        return None
    history = state.condition
    for item in still_open(added):
        history = (item, history)
    entry: Any = state.entry
    values = tuple(
        value if name in ("D", "va") else leg.row[int(name[1:])]
        for name, value in zip(entry.names, state.values, strict=True)
    )
    return gone_on(state, entry, values, history, slices.values())


def gone_on(
    state: State, entry: Any, values: tuple[Value, ...], history: Cons, slices: Iterable[Slice]
) -> State:
    """A state that has gone on to another location, with some new slices."""
    made = copy(state)
    made.entry, made.place, made.values = entry, entry.place, values
    made.condition = history
    made.packed = state.slices | {v: part for part in slices for v in part.vars}
    made.depth = state.depth + 1
    return made

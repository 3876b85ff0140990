"""All rounds of a loop at once: what holds in each that is not the last, and in which it is left how.

The body is followed once at each position, with nothing asked (`body.py`). A round ends where a counter has
moved on, so that a loop that scans a set for each character takes one step of one position, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from anabranch.expr import Expr, add, mul, not_, or_
from anabranch.expr.boolean import bool_and
from anabranch.expr.node import ROUND_NUMBERS
from anabranch.machine import State
from anabranch.machine.joining.chains import Joined
from anabranch.machine.joining.values import choose
from anabranch.reduce.loops.summaries.affine import Affine, affine
from anabranch.reduce.loops.summaries.body import Beginning, Body, Sets, Stuck, Way
from anabranch.reduce.loops.summaries.candidates import Candidate
from anabranch.reduce.loops.summaries.decisions import chosen, decisions, same, taken
from anabranch.reduce.loops.summaries.position import Position
from anabranch.reduce.loops.summaries.reader import OtherOrigin
from anabranch.solver.leaf_models import NumberedModels
from anabranch.solver.valuesets import union

Value = Any
Row = dict[int, Value]
"""Values of locals, by index."""
Edge = tuple[int, int]
MOST_ROUNDS = 5000
IDLE = 4  # rounds without a condition on the input, after which a loop is not worth it
MOST_STUCK = 4  # rounds with a way that is stuck
WITNESSES = 8  # ways that are kept of those that take an edge


@dataclass(slots=True)
class Leg:
    """How a round ends: with the loop left by some edge, where it is stuck, or with another round."""

    ways: list[Value]
    """The conditions of the ways that end so, on top of what the rounds before say."""
    condition: Value
    """That one of them is taken."""
    row: Row
    """The values then, as functions of the way."""
    sets: Sets
    """Of single variables: of another round, what holds then, else what holds on one of the ways."""

    def reached(self, reached: Value) -> Any:
        """An item of a path condition: the path is in the loop, and takes one of the ways."""
        condition = bool_and(reached, self.condition)
        if len(self.ways) == 1 or condition is False:
            return condition
        return Joined([tuple(still_open((reached, way))) for way in self.ways], condition=condition)

    def if_reached(self, reached: Value) -> Any:
        """An item of a path condition: if the path is in the loop, it takes one of the ways."""
        outside = not_(reached)
        condition = or_(outside, self.condition, 1)
        if outside is True or not self.ways or (len(self.ways) == 1 and outside is False):
            return condition
        sides = [tuple(still_open((reached, way))) for way in self.ways]
        return Joined(sides if outside is False else [(outside,), *sides], condition=condition)


def still_open(conditions: Iterable[Any]) -> Iterator[Any]:
    """Those that are not true anyway."""
    return (c for c in conditions if c is not True)


NO_OTHER = Leg([], False, {}, Sets())


@dataclass(slots=True)
class Rounds:
    """What there is to know of a loop, for one state that enters it."""

    position: Position
    spine: list[Leg] = field(default_factory=list)
    """Of each round, from that at `position.first` on: how there is another one."""
    rows: list[Row] = field(default_factory=list)
    """Likewise, the values at its beginning."""
    sets: list[Sets] = field(default_factory=list)
    """Likewise, supersets of the values of single variables at its beginning."""
    legs: dict[Edge, dict[int, Leg]] = field(default_factory=dict)
    """By the edge by which the loop is left, by position."""
    stuck: dict[int, Leg] = field(default_factory=dict)
    """By position; the values are those at the header."""
    taken: dict[Edge, list[tuple[int, Value]]] = field(default_factory=dict)
    """The edges of the loop, each with some ways that take it: position and condition."""

    def paths(self) -> dict[int, int]:
        """By position: at most how many paths come there, for each path that enters."""
        first, found, coming = self.position.first, dict[int, int](), 0
        for number, leg in enumerate(self.spine):
            w = first + number
            found[w] = coming + (w <= self.position.last)
            coming = found[w] * len(leg.ways)
        return found

    def before(self, w: int) -> list[Any]:
        """The path condition of the rounds before a position."""
        position, first = self.position, self.position.first
        return [self.spine[v - first].if_reached(position.reached(v)) for v in range(first, w)]


def follow(state: State, body: Body, candidate: Candidate, leaves: Mapping[int, NumberedModels]) -> Rounds:
    """All rounds of a loop that a state enters; Stuck if that cannot be told. `leaves`: what is known of the
    loops before it, by the index of their number."""
    names: Any = state.entry
    entry = {
        int(name[1:]): value
        for name, value in zip(names.names, state.values, strict=True)
        if name not in ("D", "va")
    }
    origin = _origin(entry, body, candidate)
    while True:
        try:
            return Following(body, candidate, entry, Position(origin, body.range_at_entry), leaves).all()
        except OtherOrigin as other:
            if origin.terms:
                raise Stuck("a position that is no counter") from None
            origin = _of_numbers(other.terms)


def _origin(entry: Row, body: Body, candidate: Candidate) -> Affine:
    """What the position depends on, as far as the counters tell where the loop is entered."""
    for counter in candidate.counters:
        if counter.local in entry:
            form = affine(entry[counter.local], body.range_at_entry, counter.width)
            if form is not None and form.terms:
                return _of_numbers(Affine(0).plus(form, counter.sign))
    return Affine(0)


def _of_numbers(form: Affine) -> Affine:
    """The variables of a position, which are to be the numbers of loops before this one."""
    if any(v not in ROUND_NUMBERS for v, _ in form.terms):
        raise Stuck("a position of the input")
    return Affine(0, form.terms)


class Following:
    """Goes from round to round."""

    def __init__(
        self, body: Body, candidate: Candidate, entry: Row, position: Position,
        leaves: Mapping[int, NumberedModels],
    ) -> None:  # fmt: skip
        self._body = body
        self._leaves = leaves
        self._candidate = candidate
        self._entry = entry
        self._position = position
        self._moving = [c for c in candidate.counters if c.local in entry]
        self._in_step = {} if position.fixed else {c.local: c for c in self._moving}
        """Counters whose values are told by the position."""
        self._found = Rounds(position)
        if not self._moving:
            raise Stuck("no counter is read behind the header")
        if position.last - position.first > MOST_ROUNDS:
            raise Stuck("too many positions")

    def all(self) -> Rounds:
        """Follow the loop until there is no other round."""
        position, found = self._position, self._found
        before: Leg | None = None
        w, row, sets = position.first, self._at(position.first, None), self._gathered(position.first, None)
        while True:
            found.rows.append(row)
            found.sets.append(sets)
            another = self._round(w, row, sets, None if before is None else before.sets)
            found.spine.append(another or NO_OTHER)
            before = another
            if another is None and w >= position.last:
                return found
            if position.fixed:
                assert another is not None
                row, sets = another.row, another.sets
            else:
                row = self._at(w + 1, None if another is None else another.row)
                sets = self._gathered(w + 1, another)
            w += 1
            if w - position.first == IDLE and not self._body.decided:
                raise Stuck("nothing depends on the input")
            if w - position.last > MOST_ROUNDS or len(found.stuck) > MOST_STUCK:
                raise Stuck("too many rounds")

    def _at(self, w: int, before: Row | None) -> Row:
        """The values at the header when paths are at w; `before`: those after the round before."""
        if self._position.fixed:
            return dict(self._entry)
        row = {}
        for local, value in self._entry.items():
            counter = self._in_step.get(local)
            if counter is not None:
                width = counter.width
                steps = mul(self._position.rounds(w, width), counter.sign & (1 << width) - 1, width)
                row[local] = self._simple(add(value, steps, width), width)
            elif before is None or before[local] is value:
                row[local] = value
            else:
                row[local] = self._choice(self._position.enters(w), value, before[local], local)
        return row

    def _gathered(self, w: int, before: Leg | None) -> Sets:
        """What holds of single variables at w: of the paths that enter there, and of those that come from the
        round before."""
        sides = [] if before is None else [before.sets]
        position = self._position
        if position.first <= w <= position.last:
            number, value = position.number_entering(w) or (None, 0)
            leaves = None if number is None else self._leaves.get(number)
            known = leaves is not None and value in leaves
            sides.append(Sets(leaves.sets(value)) if leaves is not None and known else Sets())
        return _either(sides) if sides else Sets()

    def _simple(self, value: Value, width: int) -> Value:
        """The value as a constant, if it is one."""
        form = affine(value, self._body.range_of, width)
        return value if form is None or form.terms else form.constant & (1 << width) - 1

    def _round(self, w: int, row: Row, sets: Sets, came: Sets | None) -> Leg | None:
        """Follow one: how there is another, None if there is none. `came`: what holds of single variables on
        the paths that come from the round before."""
        body, found, position = self._body, self._found, self._position
        start = Way(self._candidate.loop.header, dict(row), body.narrowed(sets, position.reached(w)) or sets)
        beginning = Beginning(start.sets, came, position.enters(w))
        again: list[Way] = []
        stuck: list[Way] = []
        left: dict[Edge, list[Way]] = {}

        def moved(way: Way) -> bool:
            return not all(same(way.registers[c.local], row[c.local]) for c in self._moving)

        for way in body.ways(start, beginning, moved):
            condition = _all(way.conditions)
            if condition is False:
                continue  # what was decided contradicts itself
            for edge in way.edges:
                witnesses = found.taken.setdefault(edge, [])
                if len(witnesses) < WITNESSES:
                    witnesses.append((w, condition))
            if way.stuck:
                if w == position.first or w < position.last:
                    raise Stuck(way.stuck)
                stuck.append(way)
            elif way.block in body.loop.blocks:
                again.append(way)
            else:
                left.setdefault(way.edges[-1], []).append(way)
        for edge, ways in left.items():
            found.legs.setdefault(edge, {})[w] = self._leg(
                ways, [self._live(way) for way in ways], ways[0].sets
            )
        if stuck:
            found.stuck[w] = self._leg(stuck, [dict(row)] * len(stuck), stuck[0].sets)
        return self._next(w, again) if again else None

    def _leg(self, ways: Sequence[Way], rows: Sequence[Row], sets: Sets) -> Leg:
        """What the ways come to, each with its values."""
        tree = decisions([way.conditions for way in ways])
        row = {}
        for local in rows[0]:
            choose = partial(self._choice, local=local)
            row[local] = chosen(tree, [values[local] for values in rows], choose)
        return Leg([_all(way.conditions) for way in ways], taken(tree), row, sets)

    def _next(self, w: int, again: Sequence[Way]) -> Leg:
        """What the ways that go round have in common."""
        *others, last = again
        for local in self._candidate.phis:
            if local in self._candidate.steering and local in self._entry:
                value = last.registers[local]
                if not all(same(way.registers[local], value) for way in others):
                    raise Stuck("rounds that lead to several positions")
        if self._in_step:
            wanted = self._at(w + 1, None)
            for local, counter in self._in_step.items():
                if not self._equal(last.registers[local], wanted[local], counter.width):
                    raise Stuck("a counter that is not in step")
        rows = [{local: way.registers[local] for local in self._entry} for way in again]
        return self._leg(again, rows, _either([way.sets for way in again]))

    def _equal(self, a: Value, b: Value, width: int) -> bool:
        """Are two values the same whatever the input?"""
        if same(a, b):
            return True
        x, y = (affine(value, self._body.range_of, width) for value in (a, b))
        return (
            x is not None
            and y is not None
            and not x.plus(y, -1).terms
            and (x.constant - y.constant) % (1 << width) == 0
        )

    def _live(self, way: Way) -> Row:
        """What is live in the block that a way has left the loop for."""
        unit = self._body.unit
        indices = [
            int(name[1:]) for name in unit.target(("block", way.block)).names if name not in ("D", "va")
        ]
        return {index: self._body.value(unit.plan.locals[index], way) for index in indices}

    def _choice(self, condition: Value, a: Value, b: Value, local: int) -> Value:
        if same(a, b):
            return b
        if condition.__class__ is not Expr:
            return a if condition else b
        if a.__class__ is tuple or b.__class__ is tuple:
            raise Stuck("values of several parts")
        return choose(condition, a, b, self._body.unit.plan.locals[local].type.bits)


def _all(conditions: Sequence[Expr]) -> Value:
    whole: Value = True
    for condition in conditions:
        whole = bool_and(whole, condition)
    return whole


def _either(sets: Sequence[Sets]) -> Sets:
    """What holds of single variables whichever way was taken."""
    first, *others = sets
    for other in others:
        kept = Sets()
        for v, values in first.items():
            found = other.get(v)
            if found is not None:
                kept = kept.set(v, values if found is values else union(values, found))
        first = kept
    return first

"""Forms of states part by part: what shares no variable is reduced and numbered by itself, and only once.

The parts of a constraint are slices of the path condition with the outputs over their variables. States
behind one call have most of them in common, with each other and with those behind calls before.

A form is the set of the numbers of its parts, as in `canonical`. Path conditions are conjunctions that can be
false whatever the caller sees (`rest` in `state`), so that no part needs to know that of the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from anabranch.expr import Expr, expr_vars
from anabranch.expr.node import VAR
from anabranch.reduce.zequivalence.canonical import Table, canonical_parts
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.deciding import Deciding
from anabranch.reduce.zequivalence.flexible import below
from anabranch.reduce.zequivalence.pieces import Output
from anabranch.reduce.zequivalence.reduction import code
from anabranch.reduce.zequivalence.shown import Shown
from anabranch.solver import Slice

PARTS_KEPT = 50_000
SHAPES_KEPT = 5_000
SHAPED = 500  # nodes of a constraint whose shape is worth a look


class Encoded:
    """A state as a constraint that is still in parts."""

    __slots__ = ("more", "parts", "shown", "slices")

    def __init__(
        self, shown: Shown, parts: dict[Slice, None], slices: dict[int, Slice], more: tuple[Expr, ...]
    ) -> None:
        self.shown = shown
        self.parts = parts  # slices that say something about outputs or observable variables
        self.slices = slices  # of all variables
        self.more = more  # clauses that stand for what is left out

    def constraint(self) -> StateConstraint:
        """All of it as one."""
        clauses = [clause for part in self.parts for clause in part.order]
        shown = self.shown
        outputs = [*shown.outputs, *(output for piece in shown.pieces for output in piece.outputs)]
        return StateConstraint((*self.more, *clauses), tuple(outputs), shown.observable)


class PartForms:
    """Forms of states; those of one object are comparable."""

    def __init__(self) -> None:
        self._table = Table()
        self._whole: dict[Hashable, frozenset[int]] = {}  # forms of states that are made of pieces only
        self._names: dict[Hashable, int] = {}
        self._name = 0
        self._known: dict[Hashable, tuple[int, ...]] = {}
        self._deciding = Deciding()
        self._shapes: dict[Hashable, tuple[int, ...]] = {}
        self._constants: dict[Output, int] = {}

    def form(self, state: Encoded) -> frozenset[int]:
        """Equal for states that are z-equivalent."""
        shown = state.shown
        if shown.known is None:
            self._prepare(shown)
        if not shown.name:
            return self._form(state)
        key = (shown.name, *state.parts)
        known = self._whole.get(key)
        if known is None:
            if len(self._whole) >= PARTS_KEPT:
                self._whole.clear()
            known = self._whole[key] = self._form(state)
        return known

    def _form(self, state: Encoded) -> frozenset[int]:
        shown = state.shown
        assert shown.known is not None
        numbers = list(shown.known)
        for outputs, slices in components(shown.symbolic, state):
            numbers += self._part(outputs, slices, shown.observable)
        return frozenset(numbers)

    def _prepare(self, shown: Shown) -> None:
        """What the forms of all states have in common that show the same."""
        if not shown.outputs:
            if len(self._names) >= PARTS_KEPT:
                self._names.clear()
            self._name += 1
            shown.name = self._names.setdefault((tuple(shown.pieces), shown.observable), self._name)
        numbers: list[int] = []
        symbolic = self._known_ones(shown.outputs, numbers)
        for piece in shown.pieces:
            if piece.numbers is None:
                known: list[int] = []
                self._known_ones(piece.outputs, known)
                piece.numbers = tuple(known)
            numbers += piece.numbers
            symbolic += piece.symbolic
        shown.known, shown.symbolic = tuple(numbers), symbolic

    def _known_ones(self, outputs: Iterable[Output], numbers: list[int]) -> list[Output]:
        """Adds the numbers of known outputs; all others."""
        symbolic: list[Output] = []
        constants = self._constants
        for output in outputs:
            if output[1].__class__ is Expr:
                symbolic.append(output)
            else:
                number = constants.get(output)
                numbers.append(self._constant(output) if number is None else number)
        return symbolic

    def _constant(self, output: Output) -> int:
        if len(self._constants) >= PARTS_KEPT:
            self._constants.clear()
        name, value, width = output
        number = self._constants[output] = self._table.number(("output", name, width, code(int(value))))
        return number

    def _part(
        self, outputs: list[Output], slices: list[Slice], observable: frozenset[int]
    ) -> tuple[int, ...]:
        names, seen = [], [v for part in slices for v in part.vars if v in observable]
        for name, value, width in outputs:
            names.append((name, value.id, width))
            seen += [v for v in expr_vars(value) if v in observable]
        key = (tuple(names), tuple(slices), tuple(seen))
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= PARTS_KEPT:
                self._known.clear()
            clauses = tuple([clause for part in slices for clause in part.order])
            constraint = StateConstraint(clauses, tuple(outputs), frozenset(seen))
            constraint = self._deciding.without_decided(constraint)
            looks = shape(constraint)
            known = None if looks is None else self._shapes.get(looks)
            if known is None:
                known = canonical_parts(constraint, self._table)
                if looks is not None:
                    if len(self._shapes) >= SHAPES_KEPT:
                        self._shapes.clear()
                    self._shapes[looks] = known
            self._known[key] = known
        return known


def shape(constraint: StateConstraint) -> Hashable | None:
    """The same for constraints that are the same but for the names of unobservable variables, if their nodes
    were made in the same order; different for all others. None for large ones, of which few are."""
    values: list[Any] = [value for _, value, _ in constraint.outputs]
    nodes = below([*values, *constraint.clauses], SHAPED)
    if nodes is None:
        return None
    at: dict[Any, int] = {}
    found: list[Hashable] = []
    for number, n in enumerate(nodes, 1):
        at[n] = -number
        if n.op != VAR:
            # Constants are not negative, and numbers of nodes are.
            found += (n.op, n.w, *[at[x] if x.__class__ is Expr else x for x in (n.a, n.b, n.c)])
        elif n.a in constraint.observable or n.a < 0:
            found += (VAR, n.a)
        else:
            found += (VAR, -1, n.w)
    names = [(name, at[value], width) for name, value, width in constraint.outputs]
    return (*names, 0, *[at[clause] for clause in constraint.clauses], 0, *found)


def components(symbolic: list[Output], state: Encoded) -> list[tuple[list[Output], list[Slice]]]:
    """Outputs and slices that share variables, in the order that they have."""
    slices, parts = state.slices, state.parts
    if not symbolic:
        return [([], [part]) for part in parts]
    together: dict[Slice, _Component] = {}
    found: dict[_Component, None] = {}
    for position, output in enumerate(symbolic):
        mine = _Component(position)
        for v in expr_vars(output[1]):
            part = slices.get(v)
            if part is None or part not in parts:
                continue
            other = together.setdefault(part, mine)
            if other is mine:
                mine.slices[part] = None
            else:
                found.pop(other)
                mine.outputs += other.outputs
                mine.slices.update(other.slices)
                for shared in other.slices:
                    together[shared] = mine
        found[mine] = None
    made = [([symbolic[i] for i in sorted(c.outputs)], sorted(c.slices, key=_first)) for c in found]
    made += [([], [part]) for part in parts if part not in together]
    return made


class _Component:
    __slots__ = ("outputs", "slices")

    def __init__(self, position: int) -> None:
        self.outputs = [position]
        self.slices: dict[Slice, None] = {}


def _first(part: Slice) -> int:
    return part.vars[0]

"""Forms of states part by part: what shares no variable is reduced and numbered by itself, and only once.

The parts of a constraint are slices of the path condition with the outputs over their variables. States behind
one call have most of them in common, with each other and with those behind calls before.

A form is the set of the numbers of its parts, as in `canonical`. Path conditions are conjunctions that can be
false whatever the caller sees (`rest` in `state`), so that no part needs to know that of the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from anabranch.expr import Expr, expr_vars
from anabranch.reduce.zequivalence.canonical import Table, canonical_parts
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.pieces import Output, Piece
from anabranch.reduce.zequivalence.reduction import code
from anabranch.solver import Slice

PARTS_KEPT = 50_000


class Encoded:
    """A state as a constraint that is still in parts."""

    __slots__ = ("more", "observable", "outputs", "parts", "pieces", "slices")

    def __init__(
        self,
        outputs: list[Output],
        pieces: list[Piece],
        parts: dict[Slice, None],
        slices: dict[int, Slice],
        observable: frozenset[int],
        more: tuple[Expr, ...],
    ) -> None:
        self.outputs = outputs  # of its own
        self.pieces = pieces  # those that it shares
        self.parts = parts  # slices that say something about outputs or observable variables
        self.slices = slices  # of all variables
        self.observable = observable
        self.more = more  # clauses that stand for what is left out

    def constraint(self) -> StateConstraint:
        """All of it as one."""
        clauses = [clause for part in self.parts for clause in part.order]
        outputs = [*self.outputs, *(output for piece in self.pieces for output in piece.outputs)]
        return StateConstraint((*self.more, *clauses), tuple(outputs), self.observable)


class PartForms:
    """Forms of states; those of one object are comparable."""

    def __init__(self) -> None:
        self._table = Table()
        self._known: dict[Hashable, tuple[int, ...]] = {}
        self._constants: dict[Output, int] = {}

    def form(self, state: Encoded) -> frozenset[int]:
        """Equal for states that are z-equivalent."""
        numbers: list[int] = []
        symbolic = self._known_ones(state.outputs, numbers)
        for piece in state.pieces:
            if piece.numbers is None:
                known: list[int] = []
                self._known_ones(piece.outputs, known)
                piece.numbers = tuple(known)
            numbers += piece.numbers
            symbolic += piece.symbolic
        for outputs, slices in components(symbolic, state):
            numbers += self._part(outputs, slices, state)
        return frozenset(numbers)

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

    def _part(self, outputs: list[Output], slices: list[Slice], state: Encoded) -> tuple[int, ...]:
        observable = state.observable
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
            known = self._known[key] = canonical_parts(constraint, self._table)
        return known


def components(symbolic: list[Output], state: Encoded) -> list[tuple[list[Output], list[Slice]]]:
    """Outputs and slices that share variables, in the order that they have."""
    slices, parts = state.slices, state.parts
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

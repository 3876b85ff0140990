"""Forms of states part by part: what shares no variable is reduced and numbered by itself, and only once.

The parts of a constraint are slices of the path condition with the outputs over their variables. States
behind one call have most of them in common, with each other and with those behind calls before.

A form is the set of the numbers of its parts, as in `canonical`. Path conditions are conjunctions that can be
false whatever the caller sees (`Encoded.constraint`), so that no part needs to know that of the others.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anabranch.expr import expr_vars
from anabranch.memo import Memo
from anabranch.reduce.zequivalence.canonical import Table, canonical_parts
from anabranch.reduce.zequivalence.clauses import without_decided
from anabranch.reduce.zequivalence.constraint import Output, StateConstraint
from anabranch.solver import Slice

if TYPE_CHECKING:
    from anabranch.reduce.zequivalence.encoding import Encoded

PARTS_KEPT = 50_000


class PartForms:
    """Forms of states; those of one object are comparable."""

    def __init__(self) -> None:
        self.table = Table()
        self._known: Memo[Hashable, tuple[int, ...]] = Memo(PARTS_KEPT)

    def form(self, state: Encoded) -> frozenset[int]:
        """Equal for states that are z-equivalent."""
        numbers: list[int] = []
        symbolic: list[Output] = []
        for group in state.groups:
            numbers += group.known
            symbolic += group.symbolic
        for outputs, slices in components(symbolic, state.parts, state.slices):
            numbers += self._part(outputs, slices, state.observable)
        return frozenset(numbers)

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
            clauses = tuple([clause for part in slices for clause in part.order])
            constraint = StateConstraint(clauses, tuple(outputs), frozenset(seen))
            known = self._known.keep(key, canonical_parts(without_decided(constraint), self.table))
        return known


def components(
    symbolic: list[Output], parts: dict[Slice, None], slices: dict[int, Slice]
) -> list[tuple[list[Output], list[Slice]]]:
    """Outputs and slices that share variables, in the order that they have."""
    if not symbolic:
        return [([], [part]) for part in parts]
    together: dict[Slice, _Component] = {}
    found: dict[_Component, None] = {}
    for position, output in enumerate(symbolic):
        mine = _Component([position], {})
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
    made = [
        ([symbolic[i] for i in sorted(c.outputs)], sorted(c.slices, key=lambda part: part.vars[0]))
        for c in found
    ]
    made += [([], [part]) for part in parts if part not in together]
    return made


@dataclass(slots=True, eq=False)
class _Component:
    outputs: list[int]  # their positions
    slices: dict[Slice, None]

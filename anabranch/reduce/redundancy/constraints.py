"""The constraints of snapshots (3.3): which inputs did the paths of a snapshot stand for?

The paper asks whether a state has all constraints of a snapshot. It is enough that the state allows no values
that the snapshot did not: where a slice has one variable, its set of values is compared. Two snapshots that
differ only in the set of one variable are one snapshot with both sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anabranch.expr import expr_vars, variable
from anabranch.solver import Slice
from anabranch.solver.valuesets import ValueSet, full_set, union, without


class Constraints:
    """What a snapshot knew of the variables in its values."""

    __slots__ = ("others", "sets")

    def __init__(self, sets: dict[int, ValueSet], others: frozenset[Slice]) -> None:
        self.sets = sets
        """The values of variables that are constrained by themselves."""
        self.others = others
        """Slices of several variables, or of one whose values have no ranges."""

    @classmethod
    def of(cls, slices: Iterable[Slice]) -> Constraints:
        sets: dict[int, ValueSet] = {}
        others = []
        for part in slices:
            if not part.constraints:
                continue
            if part.values is not None and len(part.vars) == 1:
                sets[part.vars[0]] = part.values
            else:
                others.append(part)
        return cls(sets, frozenset(others))

    def allow(self, slices: Mapping[int, Slice]) -> bool:
        """Are all values that the slices of a state allow among those of the snapshot?"""
        for index, known in self.sets.items():
            mine = slices.get(index)
            if mine is None:
                return False
            values = mine.values
            if values is None:
                values = mine.bounds[index]
            if values != known and without(values, known):
                return False
        return all(implied(part, slices) for part in self.others)

    def include(self, other: Constraints) -> bool:
        """Does it allow whatever the other one allows?"""
        for index, known in self.sets.items():
            values = other.sets.get(index)
            if values is None or (values != known and without(values, known)):
                return False
        return self.others <= other.others

    def united(self, other: Constraints) -> Constraints | None:
        """The constraints that allow what either allows; None if there may be no such sets."""
        if self.others != other.others or self.sets.keys() != other.sets.keys():
            return None
        differing = [index for index, values in self.sets.items() if values != other.sets[index]]
        if len(differing) != 1:
            return None
        [index] = differing
        sets = dict(self.sets)
        values = sets[index] = union(sets[index], other.sets[index])
        if values == full_set(variable(index).w):
            del sets[index]
        return Constraints(sets, self.others)


def implied(part: Slice, slices: Mapping[int, Slice]) -> bool:
    """Do the constraints of a state include those of a slice?"""
    mine = slices.get(part.vars[0])
    if mine is part:
        return True
    if mine is None:
        return False
    if part.constraints <= mine.constraints:
        return True
    for constraint in part.constraints:
        known = slices.get(expr_vars(constraint)[0])
        if known is None or constraint not in known.constraints:
            return False
    return True

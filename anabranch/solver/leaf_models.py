"""Models of the states that became one by a number: a model for each value of the number."""

from __future__ import annotations

from collections.abc import Sequence

from .backend import Model
from .slices import Slice
from .valuesets import ValueSet, first_values, union


class LeafModels:
    """The slices that each state had, of the variables that the states do not have in common."""

    __slots__ = ("_number", "_rows", "_variables")

    def __init__(self, number: int, variables: Sequence[int], rows: Sequence[Sequence[Slice]]) -> None:
        self._number = number
        """Index of the variable that tells the states apart."""
        self._variables = variables
        self._rows = rows
        """Of each state, the slice of each variable."""

    def __len__(self) -> int:
        return len(self._rows)

    def model(self, leaf: int) -> Model:
        """A model of the joined state in which it is that leaf."""
        pairs = zip(self._variables, self._rows[leaf], strict=True)
        return {self._number: leaf} | {v: part.model[v] for v, part in pairs}

    def bounds(self, width: int) -> dict[int, ValueSet]:
        """Of each variable, and of the number, a superset of its values on any of the leaves."""
        found: dict[int, ValueSet] = {self._number: first_values(len(self._rows), width)}
        for v, column in zip(self._variables, zip(*self._rows, strict=True), strict=True):
            parts = list(dict.fromkeys(column))
            known = parts[0].bounds[v]
            for part in parts[1:]:
                bound = part.bounds[v]
                if bound is not known:
                    known = union(known, bound)
            found[v] = known
        return found

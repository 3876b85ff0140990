"""Models of the states that became one by a number: a model for each value of the number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from anabranch.expr import Expr, expr_vars, substitute, variable
from anabranch.expr.variables import postorder_within

from .backend import Model
from .links import Both, Query
from .slices import Slice
from .valuation import VALUATIONS
from .valuesets import ValueSet, highest, intersect, listed, lowest, nearest, truth_set, union


class LeafModels:
    """The slices that each state had, of the variables that the states do not have in common."""

    __slots__ = ("_number", "_rows", "_variables", "numbers")

    def __init__(
        self, number: int, numbers: Sequence[int], variables: Sequence[int], rows: Sequence[Sequence[Slice]]
    ) -> None:
        self._number = number
        """Index of the variable that tells the states apart."""
        self.numbers = numbers
        """Its values, ascending."""
        self._variables = variables
        self._rows = dict(zip(numbers, rows, strict=True))
        """Of each state, the slice of each variable."""

    def __contains__(self, number: int) -> bool:
        return number in self._rows

    def model(self, number: int) -> Model:
        """A model of the joined state in which it is the state of that number."""
        pairs = zip(self._variables, self._rows[number], strict=True)
        return {self._number: number} | {v: part.model[v] for v, part in pairs}

    def bounds(self, width: int) -> dict[int, ValueSet]:
        """Of each variable, and of the number, a superset of its values in any of the states."""
        found: dict[int, ValueSet] = {self._number: listed(self.numbers, width)}
        for v, column in zip(self._variables, zip(*self._rows.values(), strict=True), strict=True):
            parts = list(dict.fromkeys(column))
            known = parts[0].bounds[v]
            for part in parts[1:]:
                bound = part.bounds[v]
                if bound is not known:
                    known = union(known, bound)
            found[v] = known
        return found


class Leaves:
    """A link: the model of a leaf in another round, or the slice's model with another value of one input.

    A query on what a loop computed is mostly one on the number of the round, and every leaf has a model.
    """

    name = "rounds"
    tries = 6  # leaves whose models are checked for a query
    inputs = 4  # of a condition, whose values are changed one at a time
    nodes_limit = 40_000  # nodes of the constraints to evaluate under one model
    condition_limit = 2_000  # nodes of a condition that is looked at
    patience = 4  # queries in a row without an answer, after which ever more are passed on untried

    def __init__(self, leaves: Mapping[int, LeafModels]) -> None:
        self._leaves = leaves
        """By the index of their number; read at every query."""
        self._failures = 0  # in a row
        self._passing = 0  # queries that are still to be passed on

    def answer(self, q: Query) -> Both | None:
        """See Link."""
        if not self._leaves:
            return None
        s, cond = q.slice, q.other
        numbers = self._leaves.keys() & s.bounds.keys()
        if not numbers:
            return None
        if self._passing:
            self._passing -= 1
            return None
        if postorder_within([cond], self.condition_limit) is None:
            return None
        asked = expr_vars(cond)
        found = self._changed(s, cond, numbers.intersection(asked)) or self._moved(
            s, cond, sorted(numbers, reverse=True), asked
        )
        if found is not None:
            self._failures = 0
            return q.models(found)
        self._failures += 1
        if self._failures > self.patience:
            self._passing = 1 << min(self._failures - self.patience, 6)
        return None

    def _changed(self, s: Slice, cond: Expr, numbers: Set[int]) -> Model | None:
        """The slice's model with another value of one input of the condition.

        In a given round a condition on `string[t]` is one on a single byte, whatever t is computed from.
        """
        if numbers:
            cond = substitute(cond, {variable(t): s.model[t] for t in numbers})
        if cond.__class__ is not Expr:
            return None
        asked = expr_vars(cond)
        if len(asked) > self.inputs:
            return None
        for v in asked:
            values = self._values(s, cond, v)
            if not values:
                continue
            touched = [c for c in reversed(s.order) if v in expr_vars(c)]
            for value in dict.fromkeys((lowest(values), highest(values))):
                model = s.model | {v: value}
                if VALUATIONS.hold(touched, model, self.nodes_limit):
                    return model
        return None

    def _moved(self, s: Slice, cond: Expr, numbers: list[int], asked: tuple[int, ...]) -> Model | None:
        """The slice's model with that of a leaf in it, one near the model's own if the condition says so."""
        tried = 0
        for number in numbers:
            leaves = self._leaves[number]
            for value in self._candidates(s, cond, number, number in asked, leaves):
                own = {v: x for v, x in leaves.model(value).items() if v in s.bounds}
                model = s.model | own
                if VALUATIONS.hold((cond,), model, self.nodes_limit):
                    if VALUATIONS.hold(reversed(s.order), model, self.nodes_limit):
                        return model
                    tried += 1
                    if tried == self.tries:
                        return None
        return None

    def _candidates(
        self, s: Slice, cond: Expr, number: int, asked: bool, leaves: LeafModels
    ) -> Iterable[int]:
        """Numbers of states to try: those that the condition allows, else some of all."""
        if asked:
            values = self._values(s, cond, number)
            if values:
                ends = (nearest(values, s.model[number]), lowest(values), highest(values))
                # A state that never came to the loop says nothing of its number, so that any may be allowed.
                return [value for value in dict.fromkeys(ends) if value in leaves]
        return leaves.numbers[:: max(1, len(leaves.numbers) // self.tries)]

    def _values(self, s: Slice, cond: Expr, v: int) -> ValueSet | None:
        """The values of one variable for which a condition holds, if all others have those of the model."""
        others = {variable(w): s.model[w] for w in expr_vars(cond) if w != v}
        left = substitute(cond, others) if others else cond
        if left.__class__ is not Expr:
            return s.bounds[v] if left is True else None
        truth = truth_set(left)
        return None if truth is None else intersect(s.bounds[v], truth)

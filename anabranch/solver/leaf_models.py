"""Models of the states that became one by a number: a model for each value of the number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Protocol

from anabranch.expr import Expr, expr_vars
from anabranch.expr.evaluate import specialise
from anabranch.expr.variables import postorder_within

from .backend import Model
from .links import Both, Query
from .slices import Slice
from .sums import comparison_of_sum, reach
from .valuation import VALUATIONS
from .valuesets import ValueSet, highest, intersect, listed, lowest, nearest, truth_set, union


class NumberedModels(Protocol):
    """Models of a state that stands for several, told apart by a number."""

    numbers: Sequence[int]
    """Its values, ascending."""

    def __contains__(self, number: int) -> bool: ...

    def model(self, number: int) -> Model:
        """What is likely to be a model of the state of a number: whoever uses it checks it."""

    def sets(self, number: int) -> Mapping[int, ValueSet]:
        """Of some variables, a superset of their values in the state of a number."""


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

    def sets(self, number: int) -> dict[int, ValueSet]:
        """See NumberedModels."""
        return {v: part.bounds[v] for v, part in zip(self._variables, self._rows[number], strict=True)}

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
    leaves_summed = 2  # whose inputs are looked at for a sum, the last one first
    inputs = 4  # of a condition, whose values are changed one at a time
    nodes_limit = 40_000  # nodes of the constraints to evaluate under one model
    condition_limit = 2_000  # nodes of a condition that is looked at
    nodes_an_effort = 20  # of an expression, as long as it takes the solver to spend an effort of 1
    credit = 20_000  # nodes, before the link has to be worth its price

    def __init__(self, leaves: Mapping[int, NumberedModels], effort: Callable[[], int] = lambda: 0) -> None:
        """`effort`: what the solver has spent so far, which tells what a query costs that is passed on."""
        self._leaves = leaves
        """By the index of their number; read at every query."""
        self._effort = effort
        self._spent = 0  # nodes that were looked at
        self._answers = 0
        self._passed = 0  # queries
        self._passed_effort = 0  # of the solver, for them
        self._passing_since: int | None = None  # its effort when the last query was passed on

    def answer(self, q: Query) -> Both | None:
        """See Link."""
        if not self._leaves:
            return None
        s, cond = q.slice, q.other
        numbers = self._leaves.keys() & s.bounds.keys()
        if not numbers:
            return None
        self._learn()
        if not self._worth_trying() or postorder_within([cond], self.condition_limit) is None:
            self._passing_since = self._effort()
            return None
        asked = expr_vars(cond)
        found = self._changed(s, cond, numbers.intersection(asked)) or self._moved(
            s, cond, sorted(numbers, reverse=True), asked
        )
        found = found or self._summed(s, cond, numbers.intersection(asked))
        if found is not None:
            self._answers += 1
            return q.models(found)
        self._passing_since = self._effort()
        return None

    def _learn(self) -> None:
        """What was spent on the query that was passed on last."""
        if self._passing_since is not None:
            self._passed += 1
            self._passed_effort += self._effort() - self._passing_since
            self._passing_since = None

    def _worth_trying(self) -> bool:
        """Does an answer take less than the solver spends on a query? Counted, so that runs repeat."""
        usual = self._passed_effort / self._passed if self._passed else 0.0
        return self._spent <= self.credit + self._answers * usual * self.nodes_an_effort

    def _changed(self, s: Slice, cond: Expr, numbers: Set[int]) -> Model | None:
        """The slice's model with another value of one input of the condition.

        In a given round a condition on `string[t]` is one on a single byte, whatever t is computed from.
        """
        if numbers:
            kept = set(expr_vars(cond)).difference(numbers)
            cond = self._specialise(s.model, cond, kept)
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
                if self._hold(touched, model):
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
                if self._hold((cond,), model):
                    if self._hold(reversed(s.order), model):
                        return model
                    tried += 1
                    if tried == self.tries:
                        return None
        return None

    def _summed(self, s: Slice, cond: Expr, numbers: Set[int]) -> Model | None:
        """The model of a leaf with other values of many inputs, whose sum is asked for.

        In a given round, what a loop has counted is a sum over the inputs.
        """
        if len(numbers) != 1:
            return None
        (number,) = numbers
        leaves = self._leaves[number]
        kept = set(expr_vars(cond)) - numbers
        for value in leaves.numbers[:: -max(1, len(leaves.numbers) // self.leaves_summed)]:
            own = s.model | {v: x for v, x in leaves.model(value).items() if v in s.bounds}
            left = self._specialise(own, cond, kept)
            asked = comparison_of_sum(left) if left.__class__ is Expr else None
            changed = reach(asked, own, s.bounds) if asked is not None else None
            if changed is not None and self._hold((cond, *reversed(s.order)), own | changed):
                return own | changed
        return None

    def _candidates(
        self, s: Slice, cond: Expr, number: int, asked: bool, leaves: NumberedModels
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
        left = self._specialise(s.model, cond, {v})
        if left.__class__ is not Expr:
            return s.bounds[v] if left is True else None
        truth = truth_set(left)
        return None if truth is None else intersect(s.bounds[v], truth)

    def _specialise(self, model: Model, cond: Expr, kept: Set[int]) -> Any:
        """A condition on some variables, all others having their values in a model."""
        known: dict[Expr, Any] = {}
        found = specialise(cond, kept, partial(VALUATIONS.value, model=model), known)
        self._spent += 2 * len(known)  # its truth set takes about as long
        return found

    def _hold(self, conditions: Iterable[Expr], model: Model) -> bool:
        before = VALUATIONS.evaluated
        found = VALUATIONS.hold(conditions, model, self.nodes_limit)
        self._spent += VALUATIONS.evaluated - before
        return found

"""The chain: ways to decide a condition in a slice, cheapest first.

Each link answers True or False (the other side is infeasible), a model of each side (both are feasible), or
None: ask the next one.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from anabranch.expr import Expr, expr_vars
from anabranch.expr.boolean import negation

from .backend import UNKNOWN, UNSAT, Backend, Model, SolverUnknown
from .bounds import known_truth
from .comparisons import follows
from .slices import Slice, conjuncts
from .valuation import VALUATIONS
from .valuesets import ValueSet, contains, highest, intersect, lowest, truth_set, without


class Both(NamedTuple):
    """Both sides are feasible: a model of each, and the values left of the one variable if known exactly."""

    yes: Model
    no: Model
    yes_values: ValueSet | None = None
    no_values: ValueSet | None = None


class Query:
    """One condition to decide in one slice."""

    __slots__ = ("_side", "cond", "slice")

    def __init__(self, slice_: Slice, cond: Expr) -> None:
        self.slice = slice_
        self.cond = cond
        self._side: bool | None = None

    @property
    def side(self) -> bool:
        """The side that the model of the slice takes."""
        if self._side is None:
            self._side = VALUATIONS.value(self.cond, self.slice.model) is True
        return self._side

    @property
    def other(self) -> Expr:
        """The condition of the side that the model does not take."""
        return negation(self.cond) if self.side else self.cond

    def models(self, other: Model) -> Both:
        """The models of both sides, given one of the side that the slice's model does not take."""
        own = self.slice.model
        return Both(own, other) if self.side else Both(other, own)


class Link(Protocol):
    """One way to decide."""

    name: str

    def answer(self, q: Query) -> bool | Both | None:
        """The decision, or None to pass the query on."""
        ...


class Seen:
    """The condition or its negation is among the constraints, or follows from those on the same value."""

    name = "seen"

    def answer(self, q: Query) -> bool | None:
        """See Link."""
        return follows(q.slice, q.cond)


class ExactValues:
    """A slice of one variable whose values are known exactly: all values of a byte, ranges of wider ones."""

    name = "values"

    def answer(self, q: Query) -> bool | Both | None:
        """See Link."""
        s = q.slice
        values = s.values
        if values is None:
            return None
        truth = truth_set(q.cond)
        if truth is None:
            return None
        v = s.vars[0]
        own = s.model[v]
        yes = intersect(values, truth)
        if not yes:
            return False
        no = without(values, truth)
        if not no:
            return True
        if contains(yes, own):
            return Both(s.model, {v: lowest(no)}, yes, no)
        return Both({v: lowest(yes)}, s.model, yes, no)


class Fixed:
    """Every variable of the condition can have but one value."""

    name = "fixed"

    def answer(self, q: Query) -> bool | None:
        """See Link."""
        bounds = q.slice.bounds
        for v in expr_vars(q.cond):
            if lowest(bounds[v]) != highest(bounds[v]):
                return None
        return q.side


class Bounds:
    """The bounds of the variables force the condition."""

    name = "bounds"

    def answer(self, q: Query) -> bool | None:
        """See Link."""
        s, cond = q.slice, q.cond
        vs = expr_vars(cond)
        if len(vs) == 1:
            truth = truth_set(cond)
            if truth is None:
                return known_truth(cond, s.bounds)
            bound = s.bounds[vs[0]]
            both = intersect(bound, truth)
            if not both:
                return False
            return True if both == bound else None
        return known_truth(cond, s.bounds)


class KnownModels:
    """A model of the slice found earlier takes the other side, or its own model with one value changed."""

    name = "models"
    touched_limit = 40  # constraints over the changed variable
    nodes_limit = 1000  # nodes of them to evaluate: then the backend is as quick

    def answer(self, q: Query) -> Both | None:
        """See Link."""
        s, cond, side = q.slice, q.cond, q.side
        for model in s.models[1:]:
            if VALUATIONS.value(cond, model) is not side:
                return q.models(model)
        changed = self._changed(s, q.other)
        return None if changed is None else q.models(changed)

    def _changed(self, s: Slice, cond: Expr) -> Model | None:
        """The slice's model with another value of the one variable of the condition."""
        vs = expr_vars(cond)
        if len(vs) != 1:
            return None
        truth = truth_set(cond)
        if truth is None:
            return None
        v = vs[0]
        allowed = intersect(s.bounds[v], truth)
        touched = [c for c in reversed(s.order) if v in expr_vars(c)]  # the latest is the likeliest to fail
        if not allowed or len(touched) > self.touched_limit:
            return None
        for value in dict.fromkeys((lowest(allowed), highest(allowed))):
            model = s.model | {v: value}
            if VALUATIONS.hold(touched, model, self.nodes_limit):
                return model
        return None


class Remembered:
    """Subset and superset answers: what the backend said of the condition with fewer or more constraints."""

    name = "subsets"
    kept = 8  # answers remembered for a condition

    def __init__(self) -> None:
        self.unsat: dict[Expr, list[frozenset[Expr]]] = {}
        self.sat: dict[Expr, list[tuple[frozenset[Expr], Model]]] = {}

    def answer(self, q: Query) -> bool | Both | None:
        """See Link."""
        s, other = q.slice, q.other
        constraints = s.constraints
        for smaller in self.unsat.get(other, ()):
            if smaller <= constraints:
                return q.side
        for larger, model in self.sat.get(other, ()):
            if larger >= constraints and all(v in model for v in s.vars):
                return q.models({v: model[v] for v in s.vars})
        return None

    def learn(self, q: Query, model: Model | None) -> None:
        """Remembers an answer of the backend for the other side."""
        if model is None:
            self.unsat.setdefault(q.other, []).append(q.slice.constraints)
            del self.unsat[q.other][: -self.kept]
        else:
            self.sat.setdefault(q.other, []).append((q.slice.constraints, model))
            del self.sat[q.other][: -self.kept]

    def clear(self) -> None:
        """Forgets everything."""
        self.unsat.clear()
        self.sat.clear()


class AskBackend:
    """The decision procedure; answers every query or gives up."""

    name = "backend"

    def __init__(self, backend: Backend, remembered: Remembered | None) -> None:
        self.backend = backend
        self.remembered = remembered
        """Is told the answers, if there is such a link."""

    def answer(self, q: Query) -> bool | Both:
        """See Link."""
        s = q.slice
        result = self.backend.solve((*s.order, *conjuncts(q.other)), s.vars)
        if result is UNKNOWN:
            raise SolverUnknown(q.side)
        model = None if result is UNSAT else result
        assert model is None or isinstance(model, dict)
        if self.remembered is not None:
            self.remembered.learn(q, model)
        return q.side if model is None else q.models(model)

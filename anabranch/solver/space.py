"""The space of slices: roots, products and decisions, shared by all states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from time import perf_counter, thread_time
from typing import Any

from anabranch.expr import MASK, Expr, Value, expr_vars
from anabranch.expr.boolean import negation

from .backend import UNKNOWN, UNSAT, Backend, Model, SolverStats, SolverUnknown, Timer
from .bitwuzla_backend import BitwuzlaBackend
from .bounds import compared_nodes, range_of
from .comparisons import condensed
from .config import SolverConfig
from .configured import make_links
from .disjunction import Disjunction, disjoin
from .enumeration import Values, extreme, feasible_values, preferred, representatives
from .leaf_models import NumberedModels
from .limit import QueryLimits
from .links import AskBackend, Link, Query, Remembered
from .quantified_procedure import QuantifiedLink
from .readable import readable
from .rounds import Rounds
from .slices import MODELS_KEPT, Decision, Slice, Split, conjuncts, make_slice, narrowed, root_slice
from .valuation import VALUATIONS
from .valuesets import ValueSet, intersect, truth_set

LEAVES_KEPT = 256  # joins: a slice of each variable and state is kept for each


def default_links(
    backend: Backend,
    leaves: Mapping[int, NumberedModels] | None = None,
    clauses: Mapping[int, Rounds] | None = None,
) -> tuple[Link, ...]:
    """The chain in its usual order; see `make_links`."""
    return make_links(SolverConfig(), backend, leaves, clauses)


class SliceSpace:
    """Interns slices and decides conditions in them.

    `decide` is for misses only: the caller looks into `slice.answers` first.
    """

    def __init__(
        self,
        backend: Backend | None = None,
        links: Sequence[Link] | None = None,
        limits: QueryLimits | None = None,
        config: SolverConfig | None = None,
    ) -> None:
        self.limits = limits or QueryLimits()
        """What queries may take: the same object that the backend reads."""
        self.backend: Backend = BitwuzlaBackend(limits=self.limits) if backend is None else backend
        self.stats = SolverStats()
        self.leaves: dict[int, NumberedModels] = {}
        """By the index of the number that tells the leaves apart."""
        self.clauses: dict[int, Rounds] = {}
        """Likewise."""
        if links is None:
            links = make_links(config or SolverConfig(), self.backend, self.leaves, self.clauses)
        self.links = tuple(links)
        # CPU time, as the run is timed; but that clock is slow, so that quick links are timed by another.
        self._timed: tuple[tuple[Callable[[Query], Any], Timer, Callable[[], float]], ...] = tuple(
            (
                link.answer,
                self.stats.timer(link.name),
                thread_time if isinstance(link, AskBackend | QuantifiedLink) else perf_counter,
            )
            for link in self.links
        )
        VALUATIONS.clear()  # node and model identities of an earlier run mean nothing here
        self._roots: dict[int, Slice] = {}
        self._slices: dict[tuple[frozenset[Expr], tuple[int, ...]], Slice] = {}
        self._exact: dict[tuple[int, object], Slice] = {}
        self._joins: dict[tuple[Slice, ...], Slice] = {}
        self._disjunctions: dict[tuple[Any, ...], Disjunction] = {}
        self._readable: dict[Slice, Model] = {}

    def root(self, index: int) -> Slice:
        """The slice of a variable without constraints; its model is 0."""
        s = self._roots.get(index)
        if s is None:
            s = self._roots[index] = root_slice(index)
        return s

    def join(self, slices: tuple[Slice, ...]) -> Slice:
        """The product of slices with different variables: one slice with all their constraints."""
        s = self._joins.get(slices)
        if s is None:
            s = self._joins[slices] = self._join(slices)
        return s

    def _join(self, slices: tuple[Slice, ...]) -> Slice:
        if len(slices) == 1:
            return slices[0]
        constraints = frozenset().union(*(s.constraints for s in slices))
        variables = tuple(sorted(v for s in slices for v in s.vars))
        key = (constraints, variables)
        found = self._slices.get(key)
        if found is not None:
            return found
        models: list[Model] = []
        for i in range(min(MODELS_KEPT, max(len(s.models) for s in slices))):
            model: Model = {}
            for s in slices:
                model.update(s.models[i % len(s.models)])
            models.append(model)
        bounds = {v: b for s in slices for v, b in s.bounds.items()}
        order = tuple(c for s in slices for c in s.order)
        product = self._slices[key] = make_slice(constraints, order, variables, tuple(models), None, bounds)
        return product

    def disjoin(self, first: tuple[Slice, ...], second: tuple[Slice, ...], hint: Expr | None) -> Disjunction:
        """The slices of a state that stands for two, given those that differ; see `disjunction`."""
        key = (first, second, hint)
        found = self._disjunctions.get(key)
        if found is None:
            found = self._disjunctions[key] = disjoin(first, second, hint, self.intern)
        return found

    def keep_leaves(self, number: int, leaves: NumberedModels) -> None:
        """Models of states that became one, for the link that tries them; those of old joins go."""
        self.leaves[number] = leaves
        if len(self.leaves) > LEAVES_KEPT:
            del self.leaves[next(iter(self.leaves))]

    def intern(self, s: Slice) -> Slice:
        """The slice that is kept for all slices with the same constraints, or the same known values."""
        if not s.constraints and len(s.vars) == 1:
            return self.root(s.vars[0])
        if s.values is not None:
            return self._exact.setdefault((s.vars[0], s.values), s)
        return self._slices.setdefault((s.constraints, s.vars), s)

    def decide(self, s: Slice, cond: Expr) -> Decision:
        """Whether the condition is forced in the slice, or how it splits; remembered in `s.answers`.

        Raises SolverUnknown if the backend gives up; nothing is remembered then.
        """
        q = Query(s, cond)
        for answer, timer, clock in self._timed:
            start = clock()
            try:
                r = answer(q)
            finally:
                timer.seconds += clock() - start
            if r is not None:
                timer.count += 1
                break
        else:
            raise SolverUnknown(q.side)
        decision: Decision
        if r is True or r is False:
            self.stats.forced += 1
            decision = r
        else:
            self.stats.split += 1
            decision = Split(
                self._child(s, cond, r.yes, r.yes_values),
                self._child(s, negation(cond), r.no, r.no_values),
                r.yes is s.model,
            )
        s.answers[cond] = decision
        return decision

    def _child(self, s: Slice, cond: Expr, model: Model, values: ValueSet | None) -> Slice:
        """The slice with one more condition, which the model satisfies."""
        if values is not None:  # slices with the same values are the same, whatever the constraints
            v = s.vars[0]
            exact = (v, values)
            found = self._exact.get(exact)
            if found is None:
                new = conjuncts(cond)
                # A byte has few values, so that its constraints are few enough.
                order = (*s.order, *new) if isinstance(values, int) else condensed(s.order, new)
                found = self._exact[exact] = make_slice(
                    frozenset(order), order, s.vars, (model,), values, {v: values}
                )
            return found
        new = tuple(c for c in conjuncts(cond) if c not in s.constraints)
        order = condensed(s.order, new)
        key = (frozenset(order), s.vars)
        found = self._slices.get(key)
        if found is None:
            models = [model]
            for other in s.models:
                if other is not model and len(models) < MODELS_KEPT and VALUATIONS.value(cond, other) is True:
                    models.append(other)
            bounds = narrowed(s, new)
            found = self._slices[key] = make_slice(key[0], order, s.vars, tuple(models), None, bounds)
        return found

    def assume(self, s: Slice, cond: Expr) -> Slice | None:
        """The slice with the condition added, or None if that is infeasible."""
        r = s.answers.get(cond)
        if r is None:
            r = self.decide(s, cond)
        if r.__class__ is bool:
            return s if r else None
        return r.yes  # type: ignore[union-attr]

    def restrict(self, s: Slice, cond: Expr) -> Slice | None:
        """As `assume`, for whoever does not go on with the other side: it is not asked whether there is one.

        A condition that the model satisfies needs no query, so that a test is found with a fraction of them.
        """
        if cond in s.answers or VALUATIONS.value(cond, s.model) is not True:
            return self.assume(s, cond)
        return self.extend(s, cond)

    def extend(self, s: Slice, cond: Expr) -> Slice:
        """The slice with a condition added that its model is known to satisfy."""
        truth = None if s.values is None else truth_set(cond)
        values = None if s.values is None or truth is None else intersect(s.values, truth)
        return self._child(s, cond, s.model, values)

    def led_by(self, s: Slice, cond: Expr) -> Slice:
        """The slice with a model that satisfies a condition, if one is had without much work."""
        key = (s.vars[0], s.values) if s.values is not None else None
        found = self._exact.get(key) if key is not None else self._slices.get((s.constraints, s.vars))
        for known in (s, found):
            if known is not None and VALUATIONS.value(cond, known.model) is True:
                return known
        self.limits.begin(0)
        try:
            led = self.assume(s, cond)
        except SolverUnknown:
            return s
        finally:
            self.limits.attempt = None
        if led is None:
            return s
        models = (led.model, *s.models[: MODELS_KEPT - 1])
        changed = make_slice(s.constraints, s.order, s.vars, models, s.values, s.bounds)
        # Whoever comes to the same constraints finds this slice from now on.
        if key is not None:
            self._exact[key] = changed
        else:
            self._slices[s.constraints, s.vars] = changed
        return changed

    def check(self, conds: Sequence[Expr]) -> Model | None:
        """A model of the conditions, or None if there is none: a question outside any path."""
        variables = tuple(sorted({v for c in conds for v in expr_vars(c)}))
        timer = self.stats.timer("check")
        with timer:
            timer.count += 1
            result = self.backend.solve(tuple(conds), variables)
        if result is UNKNOWN:
            raise SolverUnknown(False)
        if result is UNSAT:
            return None
        assert isinstance(result, dict)
        return result

    def readable(self, s: Slice) -> Model:
        """A model with values for people; remembered."""
        model = self._readable.get(s)
        if model is None:
            model = self._readable[s] = readable(s)
        return model

    def prefer(self, slices: Sequence[Slice], wishes: Sequence[Value], limit: int = 64) -> Model:
        """A readable model of several slices that fulfils wishes where it can, in order."""
        start: Model = {}
        for s in slices:
            start.update(self.readable(s))
        return preferred(self.check, slices, start, wishes, limit)

    def values(self, slices: Sequence[Slice], e: Value, limit: int) -> Values:
        """Up to `limit` feasible values of an expression, and whether these are all."""
        return feasible_values(self.check, slices, e, limit)

    def minimum(self, slices: Sequence[Slice], e: Value) -> int:
        """The least feasible unsigned value."""
        return extreme(self.check, slices, e, largest=False)

    def maximum(self, slices: Sequence[Slice], e: Value) -> int:
        """The greatest feasible unsigned value."""
        return extreme(self.check, slices, e, largest=True)

    def representatives(self, slices: Sequence[Slice], e: Expr, most: int) -> tuple[int, ...]:
        """A handful of the many values of an expression, up to `most`; the least in any case."""
        return representatives(self.check, slices, e, most)

    def range_of(self, slices: Sequence[Slice], e: Expr) -> tuple[int, int]:
        """A range that holds every feasible value, found without the solver; it may be too wide."""
        sets = {v: s.bounds[v] for s in slices for v in s.vars}
        compared = compared_nodes(chain.from_iterable(s.order for s in slices))
        return range_of(e, sets, compared) or (0, MASK[e.w])

    def size(self) -> int:
        """How many slices are kept."""
        return len(self._roots) + len(self._slices) + len(self._exact) + len(self._joins)

    def evict(self, target: int = 0) -> int:
        """Forgets memoised slices if there are more than `target`; returns how many were forgotten.

        Slices that states hold stay alive and right: their answers are found again when asked for.
        """
        before = self.size()
        if before <= target:
            return 0
        tables: tuple[dict[Any, Slice], ...] = (self._roots, self._slices, self._exact, self._joins)
        for table in tables:
            for s in table.values():
                s.answers.clear()
        self._roots.clear()
        self._slices.clear()
        self._exact.clear()
        self._joins.clear()
        self._disjunctions.clear()
        self._readable.clear()
        self.leaves.clear()
        self.clauses.clear()
        VALUATIONS.clear()
        for link in self.links:
            if isinstance(link, Remembered):
                link.clear()
        return before

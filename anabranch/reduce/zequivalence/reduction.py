"""What is left of a constraint: flexible parts are leaves, and clauses that they can satisfy are gone."""

from __future__ import annotations

from collections.abc import Hashable

from anabranch.expr import Expr, Value, var
from anabranch.expr.node import NOT, VAR
from anabranch.reduce.zequivalence.clauses import Infeasible, replaced, with_known_values
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.domains import SIZE, Domains, values_left
from anabranch.reduce.zequivalence.flexible import Flexible
from anabranch.reduce.zequivalence.operators import BOTH, full
from anabranch.solver.valuesets import ValueSet

ROUNDS = 4  # of giving clauses their truth and applying the rules again
TRUE, FALSE = (1, 0), (0, 0)


class Reduction:
    """The graph of a constraint after all that takes clauses out of it."""

    __slots__ = ("clauses", "falsifiable", "graph", "names", "observed", "outputs", "sets")

    def __init__(self, constraint: StateConstraint) -> None:
        given: list[Value] = [value for _, value, _ in constraint.outputs]
        clauses, values, self.falsifiable = with_known_values(
            constraint.clauses, given, constraint.observable
        )
        # (variable, values): clauses over one observable variable
        self.observed: list[tuple[int, ValueSet]] = []
        clauses = self._take_observed(clauses, constraint.observable)
        symbolic = [v for v in values if v.__class__ is Expr]
        self.graph = Flexible([*symbolic, *clauses], constraint.observable).run()
        roots = iter(self.graph.roots)
        self.names: list[tuple[Hashable, int]] = [(name, w) for name, _, w in constraint.outputs]
        # a node, or the code of a constant
        self.outputs: list[int] = [next(roots) if v.__class__ is Expr else code(int(v)) for v in values]
        self.clauses: list[int] = list(roots)
        self.sets: dict[int, ValueSet] = {}  # values of leaves that are no cube
        for _ in range(ROUNDS):
            before = len(self.clauses)
            self._give_truth()
            self.graph.run()
            self._give_values()
            self.graph.run()
            if len(self.clauses) == before:
                break

    def _take_observed(self, clauses: list[Expr], observable: frozenset[int]) -> list[Expr]:
        domains = Domains()
        rest: list[Expr] = []
        for clause in clauses:
            found = values_left(clause)
            if found is None or found[0].a not in observable:
                rest.append(clause)
            else:
                domains.add(found[0].a, found[1], found[0].w)
        self.observed = [(v, values) for v, values, _ in domains.restricted()]
        return rest

    def _give_truth(self) -> None:
        """A clause that is a leaf, or the negation of one, gets its truth value and goes."""
        graph = self.graph
        kept: list[int] = []
        for r in self.clauses:
            cube = graph.leaf[r]
            if cube is not None:
                if cube == FALSE:
                    raise Infeasible
                if cube == BOTH:
                    self.falsifiable = True
                    graph.restrict(r, TRUE)
                graph.drop_root(r)
                continue
            below = graph.operands[r]
            if graph.nodes[r].op == NOT and graph.leaf[below[0]] == BOTH:
                self.falsifiable = True
                graph.restrict(below[0], FALSE)
                graph.drop_root(r)
            else:
                kept.append(r)
        self.clauses = kept

    def _give_values(self) -> None:
        """Clauses over one leaf become the set of its values."""
        graph = self.graph
        domains = Domains()
        kept: list[int] = []
        for r in self.clauses:
            found = self._values_of_leaf(r)
            if found is None:
                kept.append(r)
            else:
                domains.add(*found)
                graph.drop_root(r)
        self.clauses = kept
        for k, values, cube in domains.restricted():
            self.falsifiable = True
            graph.restrict(k, cube)
            if cube is None:
                self.sets[k] = values

    def _values_of_leaf(self, r: int) -> tuple[int, ValueSet, int] | None:
        """The one leaf, still with all its values, below a small clause; and the values that satisfy it."""
        graph = self.graph
        parts: dict[Expr, Value] = {}
        only = -1
        seen = {r}
        stack = [r]
        while stack:
            i = stack.pop()
            n, cube = graph.nodes[i], graph.leaf[i]
            if cube is None:
                if n.op == VAR or i in self.sets or len(seen) > SIZE:
                    return None
                new = [k for k in graph.operands[i] if k not in seen]
                seen.update(new)
                stack += new
            elif cube[1] == 0:
                parts[n] = bool(cube[0]) if n.w == 1 else cube[0]
            elif only < 0 and cube == full(n.w):
                only = i
                parts[n] = stand_in(n.w)
            else:
                return None
        if only < 0:
            return None
        clause = replaced([graph.nodes[r]], parts)[0]
        if clause.__class__ is not Expr:
            return None
        found = values_left(clause)
        return None if found is None else (only, found[1], found[0].w)


def code(value: int) -> int:
    """A constant as a number below all numbers of nodes."""
    return -1 - value


def stand_in(w: int) -> Expr:
    """The variable that stands for a leaf while its clauses are looked at."""
    return var("zequivalence.leaf", w)

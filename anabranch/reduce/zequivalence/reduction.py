"""What is left of a constraint: flexible parts are leaves, and clauses that they can satisfy are gone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from anabranch.expr import MASK, Expr, Value, expr_vars, not_, slt, ult, var, variable
from anabranch.expr.evaluate import substitute_all
from anabranch.expr.node import AND, EQ, NOT, OR, SLT, ULT, VAR
from anabranch.reduce.zequivalence.clauses import SIZE, Infeasible, is_small, with_known_values
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.flexible import Flexible
from anabranch.reduce.zequivalence.operators import BOTH, Cube, full, signed_ends
from anabranch.solver.valuesets import ValueSet, full_set, intersect, truth_set

ROUNDS = 4  # of giving clauses their truth and applying the rules again
TRUE, FALSE = (1, 0), (0, 0)


def reduced(constraint: StateConstraint, falsifiable: bool = False) -> Reduction:
    """What is left of a constraint after everything below; can it be false for all observable values?"""
    reduction = Reduction(constraint, falsifiable)
    for _ in range(ROUNDS):
        simpler = reduction.one_sided()
        if simpler is None:
            break
        reduction = Reduction(simpler, reduction.falsifiable)
    return reduction


class Reduction:
    """The graph of a constraint after all that takes clauses out of it."""

    __slots__ = ("clauses", "current", "falsifiable", "graph", "names", "observed", "outputs", "sets")

    def __init__(self, constraint: StateConstraint, falsifiable: bool) -> None:
        given: list[Value] = [value for _, value, _ in constraint.outputs]
        clauses, values, gone = with_known_values(constraint.clauses, given, constraint.observable)
        # can the conjunction be false for all values of observable variables?
        self.falsifiable = falsifiable or gone
        self.names: list[tuple[Hashable, int]] = [(name, w) for name, _, w in constraint.outputs]
        outputs = tuple((name, value, w) for (name, w), value in zip(self.names, values, strict=True))
        self.current = StateConstraint(tuple(clauses), outputs, constraint.observable)
        # (variable, values): clauses over one observable variable
        self.observed: list[tuple[int, ValueSet]] = []
        clauses = self._take_observed(clauses, constraint.observable)
        symbolic = [v for v in values if v.__class__ is Expr]
        self.graph = Flexible([*symbolic, *clauses], constraint.observable).run()
        roots = iter(self.graph.roots)
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
                parts[n] = var("zequivalence.leaf", n.w)
            else:
                return None
        if only < 0:
            return None
        clause = substitute_all([graph.nodes[r]], parts)[0]
        if clause.__class__ is not Expr:
            return None
        found = values_left(clause)
        return None if found is None else (only, found[1], found[0].w)

    # -- clauses need not be false --------------------------------------------------------------------------

    def one_sided(self) -> StateConstraint | None:
        """The constraint with clauses that say less, because a leaf can be chosen in favour of their truth.

        `leaf < e` says that e is not zero. Where the clause could be false for some observable values only,
        this would show in the negation (Definition 1) unless that can be false for all of them anyway.
        """
        graph, new = self.graph, {}
        for r in self.clauses:
            n = graph.nodes[r]
            positive = n.op != NOT
            at = r if positive else graph.operands[r][0]
            if graph.uses[r] == 1 and graph.uses[at] == 1:
                weaker = self._weaker(graph.nodes[at], positive)
                if weaker is not None:
                    new[n] = weaker
        if not new:
            return None
        clauses = [new.get(c, c) for c in self.current.clauses]
        return replace(self.current, clauses=tuple(c for c in clauses if c is not True))

    def _own(self, x: Value) -> Cube | None:
        """The values of an operand that is a leaf and occurs nowhere else."""
        if x.__class__ is not Expr:
            return None
        k = self.graph.number[x]
        return self.graph.leaf[k] if self.graph.uses[k] == 1 else None

    def _weaker(self, n: Expr, positive: bool) -> Value | None:
        """What a comparison, or its negation, says of its other operand."""
        a, b = n.a, n.b
        if n.op == EQ:
            several = any(cube is not None and cube[1] for cube in (self._own(a), self._own(b)))
            return True if several and not positive and self.falsifiable else None
        if n.op == (OR if positive else AND) and n.w == 1:
            return True if BOTH in (self._own(a), self._own(b)) and self.falsifiable else None
        if n.op not in (ULT, SLT):
            return None
        w = a.w if a.__class__ is Expr else b.w
        compare, ends = (ult, _unsigned_ends) if n.op == ULT else (slt, signed_ends)
        for cube, left in ((self._own(a), True), (self._own(b), False)):
            if cube is None:
                continue
            least, most = (end & MASK[w] for end in ends(cube, w))
            if positive and cube == full(w):
                self.falsifiable = True
            if not self.falsifiable:
                return None
            if left:
                return compare(least, b, w) if positive else not_(compare(most, b, w))
            return compare(a, most, w) if positive else not_(compare(a, least, w))
        return None


def _unsigned_ends(cube: Cube, w: int) -> tuple[int, int]:
    return cube[0], cube[0] | cube[1]


def code(value: int) -> int:
    """A constant as a number below all numbers of nodes."""
    return -1 - value


# -- clauses over one variable as the set of values that they leave it ------------------------------------
# Sets are compared as sets, so that it does not matter by which comparisons a path came to them.


def values_left(clause: Expr) -> tuple[Expr, ValueSet] | None:
    """The variable of a small clause over one variable with the values that satisfy it, if they are known."""
    if not is_small(clause):
        return None
    vs = expr_vars(clause)
    if len(vs) != 1 or vs[0] < 0:
        return None
    found = truth_set(clause)
    return None if found is None else (variable(vs[0]), found)


@dataclass(slots=True)
class Domains:
    """The values left to each variable, or leaf, by the clauses that were added."""

    left: dict[int, tuple[ValueSet, int]] = field(default_factory=dict)

    def add(self, key: int, values: ValueSet, w: int) -> None:
        """One more clause over a variable of width w."""
        known = self.left.get(key)
        self.left[key] = (values if known is None else intersect(known[0], values)), w

    def restricted(self) -> Iterable[tuple[int, ValueSet, Cube | None]]:
        """The variables that cannot have all values, with the set, and with the cube that it is, if so."""
        for key, (values, w) in self.left.items():
            if not values:
                raise Infeasible
            if values != full_set(w):
                yield key, values, as_cube(values)


def as_cube(values: ValueSet) -> Cube | None:
    """The cube with exactly these values."""
    if isinstance(values, int):
        low, ones, zeros, count = values, 0, -1, 0
        while low:
            v = (low & -low).bit_length() - 1
            ones, zeros, count = ones | v, zeros & v, count + 1
            low &= low - 1
        free = ones & ~zeros
        return (zeros & ones, free) if count and count == 1 << free.bit_count() else None
    if len(values) != 1:
        return None
    lo, hi = values[0]
    size = hi - lo + 1
    return (lo, size - 1) if size & (size - 1) == 0 and lo & (size - 1) == 0 else None

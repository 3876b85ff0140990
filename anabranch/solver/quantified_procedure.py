"""The solving procedure for quantified clauses (section 5 of "State Merging with Quantifiers in Symbolic
Execution"): a model is looked for with few instances, and mended; only then all instances are asserted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from anabranch.expr import (
    Expr,
    Value,
    add,
    bool_and,
    bool_or,
    eq,
    evaluate,
    expr_vars,
    not_,
    postorder,
    substitute,
    uge,
    ule,
    variable,
    zext,
)
from anabranch.expr.boolean import negation
from anabranch.expr.cells import Read, as_read, cell_name
from anabranch.expr.evaluate import evaluate_with
from anabranch.expr.node import VAR

from .backend import UNKNOWN, UNSAT, Answer, Backend, Model
from .links import Both, Query
from .rounds import Rounds
from .slices import Slice, conjuncts
from .valuesets import intersect, truth_set

READS_LIMIT = 2000  # nodes of a condition in which a read at a symbolic offset is looked for


class Solved(NamedTuple):
    """An answer and the stage that gave it: stripping, duplication, repair or fallback."""

    answer: Answer
    stage: str


class QuantifiedProcedure:
    """Decides conditions together with clauses of rounds; counts the stages that answer."""

    def __init__(self, backend: Backend, fallback_effort: int | None = None) -> None:
        self.backend = backend
        self.fallback_effort = fallback_effort
        """Of the backend, for all fallback queries together; then they are not asked any more."""
        self.spent = 0
        self.stages: Counter[str] = Counter()

    def solve(
        self,
        conditions: Sequence[Expr],
        clauses: Sequence[Rounds],
        variables: Sequence[int] = (),
        fallback: bool = True,
    ) -> Solved:
        """A model of all, with a value for each listed variable; UNSAT or UNKNOWN."""
        solved = Attempt(self.backend, conditions, clauses, variables).run()
        if solved is None:
            solved = self._all_instances(conditions, clauses, variables, fallback)
        self.stages[solved.stage if solved.answer is not UNKNOWN else "given up"] += 1
        return solved

    def _all_instances(
        self, conditions: Sequence[Expr], clauses: Sequence[Rounds], variables: Sequence[int], ask: bool
    ) -> Solved:
        if not ask or (self.fallback_effort is not None and self.spent >= self.fallback_effort):
            return Solved(UNKNOWN, "fallback")
        whole = [*conditions, *(c for r in clauses for c in (*r.unquantified(), *r.quantified()))]
        if any(c is False for c in whole):
            return Solved(UNSAT, "fallback")
        before = self.backend.effort
        answer = self.backend.solve(whole, _all_variables(whole, variables))
        self.spent += self.backend.effort - before
        return Solved(answer, "fallback")


class Attempt:
    """One query: phi is the conditions and the clauses, phi_QF what is asserted instead of it."""

    def __init__(
        self,
        backend: Backend,
        conditions: Sequence[Expr],
        clauses: Sequence[Rounds],
        variables: Sequence[int],
    ) -> None:
        self.backend = backend
        self.clauses = clauses
        free: dict[Value, None] = dict.fromkeys(conditions)
        for r in clauses:
            free.update(dict.fromkeys(r.unquantified()))
        self.free = list(free)
        """The clauses of phi without quantifiers."""
        listed = [i for r in clauses for c in r.quantified() for i in expr_vars(c)]
        known = [c for c in self.free if c.__class__ is Expr]
        self.variables = _all_variables(known, (*variables, *listed))
        self.arrays = {
            name.array for r in clauses for i in r.spine.rounds for v in r.spine.cells(i)
            if (name := cell_name(variable(v))) is not None
        }  # fmt: skip

    def run(self) -> Solved | None:
        """What the first three stages say; None: all instances are to be asserted."""
        weakened = self.stripped()
        if any(c is False for c in weakened):
            return Solved(UNSAT, "stripping")
        asserted = [c for c in weakened if c is not True]
        model = self.backend.solve(asserted, self.variables)
        if not isinstance(model, dict):
            return Solved(model, "stripping")
        if self.holds(model):
            return Solved(model, "stripping")
        copied = self.duplicated(model, frozenset())
        if self.holds(copied):
            return Solved(copied, "duplication")
        repaired = self.repaired(asserted, copied)
        return None if repaired is None else Solved(repaired, "repair")

    def holds(self, model: Model) -> bool:
        """Is this a model of phi?"""
        return all(evaluate(c, model) is True for c in self.free) and not any(
            r.violated(model) for r in self.clauses
        )

    # -- (1) quantifier stripping

    def stripped(self) -> list[Value]:
        """phi_QF: the first instance of each clause, and where its negation is known, the clause ends."""
        found = list(self.free)
        for r in self.clauses:
            if r.spine.rounds:
                found.append(r.spine_instance(0))
                found += self._ends(r)
        return found

    def _ends(self, r: Rounds) -> Iterable[Value]:
        """not (1 <= j <= t) for each negation of psi(j) in phi, where j may be a term over an offset."""
        opposite: dict[Value, int] = {}
        for i in r.spine.rounds:
            instance = r.spine.instance(i)
            for part in conjuncts(instance) if instance.__class__ is Expr else ():
                opposite.setdefault(negation(part), i)
        for c in self.free:
            if c in opposite:
                yield ule(r.t, opposite[c], r.t.w)
            elif c.__class__ is Expr and (read := _only_read(c)) is not None:
                node, choice = read
                yield from _ends_at(r.t, choice, {
                    v: opposite.get(substitute(c, {node: v})) for _, _, v in choice.leaves
                })  # fmt: skip

    # -- (2) assignment duplication

    def duplicated(self, model: Model, kept: frozenset[int]) -> Model:
        """The model with the cells of the first round copied to those of the later ones, but for some."""
        copied = dict(model)
        for r in self.clauses:
            last = min(model.get(r.t.a, 0), len(r.spine.rounds))
            if last < 2:
                continue
            first = r.spine.cells(0)
            picked: dict[object, int] = {}  # one access of each array
            for position, v in enumerate(first):
                name = cell_name(variable(v))
                picked.setdefault(v if name is None else name.array, position)
            for i in range(1, last):
                cells = r.spine.cells(i)
                for position in picked.values():
                    if position < len(cells) and cells[position] not in kept:
                        copied[cells[position]] = model[first[position]]
        return copied

    # -- (3) model repair

    def repaired(self, asserted: Sequence[Value], model: Model) -> Model | None:
        """A model like a given one, with other contents of the arrays that the clauses are about."""
        violated = [c for c in self.free if evaluate(c, model) is not True]
        violated += [r.spine.instance(i) for r in self.clauses for i in r.violated(model)]
        accessed = _accessed(violated, model)
        more: list[Value] = []
        for r in self.clauses:
            later = r.spine.rounds[1 : model.get(r.t.a, 0)]
            more += [r.spine.instance(i) for i in later if not accessed.isdisjoint(r.spine.cells(i))]
        fixed = [
            eq(variable(v), bool(model[v]) if variable(v).w == 1 else model[v], variable(v).w)
            for v in self.variables
            if (name := cell_name(variable(v))) is None or name.array not in self.arrays
        ]
        whole = [c for c in (*asserted, *more, *fixed) if c is not True]
        if any(c is False for c in whole):
            return None
        found = self.backend.solve(whole, self.variables)
        if not isinstance(found, dict):
            return None
        copied = self.duplicated(found, accessed)
        return copied if self.holds(copied) else None


def _all_variables(conditions: Iterable[Expr], more: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({*more, *(v for c in conditions for v in expr_vars(c))}))


def _accessed(conditions: Iterable[Value], model: Model) -> frozenset[int]:
    """The variables whose values decide the conditions under a model."""
    memo: dict[Expr, object] = {}
    for c in conditions:
        if c.__class__ is Expr:
            evaluate_with(c, model, memo)
    return frozenset(n.a for n in memo if n.op == VAR)


def _only_read(c: Expr) -> tuple[Expr, Read] | None:
    """The one read at a symbolic offset in a condition."""
    nodes = postorder([c])
    if len(nodes) > READS_LIMIT:
        return None
    reads = [(n, read) for n in nodes if (read := as_read(n)) is not None]
    if not reads:
        return None
    largest = reads[-1]  # operands come first
    inside = set(postorder([largest[0]]))
    return largest if all(n in inside for n, _ in reads) else None


def _ends_at(t: Expr, read: Read, rounds: Mapping[Expr, int | None]) -> Iterable[Value]:
    """For offsets at which a read finds the cell of round i: t <= i. Neighbours with ascending rounds are
    one condition `first <= offset <= last -> not (1 <= offset + c <= t)`."""
    runs: list[list[int]] = []  # first and last offset, first round; of a longer range, of one round
    for first, last, v in read.leaves:
        i = rounds[v]
        if i is None:
            continue
        if first == last and runs and runs[-1][1] == first - 1 and runs[-1][2] + first - runs[-1][0] == i:
            runs[-1][1] = last
        elif first == last:
            runs.append([first, last, i])
        else:
            yield bool_or(not_(_between(read.offset, first, last)), ule(t, i, t.w))
    w = max(read.offset.w, t.w) + 1
    for first, last, i in runs:
        wide = add(zext(read.offset, read.offset.w, w), (i - first) & ((1 << w) - 1), w)
        outside = not_(_between(read.offset, first, last))
        yield bool_or(outside, ule(zext(t, t.w, w), wide, w))


def _between(x: Expr, first: int, last: int) -> Value:
    return bool_and(uge(x, first, x.w), ule(x, last, x.w))


class QuantifiedLink:
    """The first three stages as a link of the chain, for slices whose constraints hold all instances of a
    clause. What they do not answer is passed on: the backend asserts all instances."""

    name = "quantified"

    def __init__(self, procedure: QuantifiedProcedure, clauses: Mapping[int, Rounds]) -> None:
        self.procedure = procedure
        self.clauses = clauses
        """By the index of their number t; read at every query."""

    def answer(self, q: Query) -> bool | Both | None:
        """See Link."""
        if not self.clauses:
            return None
        s = q.slice
        clauses = [
            r
            for r in (self.clauses[v] for v in sorted(self.clauses.keys() & s.bounds.keys()))
            if s.constraints.issuperset(r.quantified()) and all(_says(s, c) for c in r.unquantified())
        ]
        if not clauses:
            return None
        lazy = {c for r in clauses for c in r.quantified()}
        conditions = [c for c in s.order if c not in lazy]
        solved = self.procedure.solve((*conditions, *conjuncts(q.other)), clauses, s.vars, fallback=False)
        if solved.answer is UNSAT:
            return q.side
        if not isinstance(solved.answer, dict):
            return None
        return q.models({v: solved.answer[v] for v in s.vars})


def _says(s: Slice, c: Value) -> bool:
    """Does a slice have a condition, or bounds of its one variable (which may replace it) that imply it?"""
    if c.__class__ is not Expr or c in s.constraints:
        return c is not False
    vs = expr_vars(c)
    truth = truth_set(negation(c)) if len(vs) == 1 else None
    return truth is not None and not intersect(s.bounds[vs[0]], truth)

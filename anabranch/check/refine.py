"""Structural abstraction and refinement: Algorithms 3, 4 and 5.

A condition is first solved with all summary operators closed: they are plain variables. If it is
satisfiable, the model is walked from the roots down; a part that the model does not depend on (the other
operand of an absorptive element, the side of a choice that is not taken) is not looked at. The operators
that are met are opened, the oldest generation first, and within it those of the consequent first. Without
one the model is a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from anabranch.check.decide import Decider, Solve
from anabranch.check.guess import guessed
from anabranch.check.leaves import (
    OBJECT_SHIFT,
    Failure,
    GlobalObject,
    Leaf,
    LocalObject,
    Operator,
    Uninitialised,
    Unknown,
    in_order,
)
from anabranch.check.program import Program
from anabranch.check.propagate import Facts
from anabranch.expr import Expr, Value, bool_or, bool_xor, eq, expr_vars, not_, operands, ult
from anabranch.expr.evaluate import evaluate_with
from anabranch.expr.node import AND, ITE, MUL, OR, VAR
from anabranch.solver.backend import UNKNOWN, UNSAT, Model
from anabranch.solver.backend import Answer as SolverAnswer

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"
ABSORBING = {AND: 0, MUL: 0, OR: -1}
"""Operator -> its absorptive element (Definition 9); -1 is all ones."""


@dataclass(slots=True)
class Answer:
    """What is known of a condition."""

    verdict: str
    model: Model
    opened: dict[Expr, Value]
    """The operators that were opened, with what they stand for."""
    reason: str = ""
    """Why it is undecided."""


class Refinement:
    """One condition on its way to a verdict."""

    def __init__(
        self,
        program: Program,
        decider: Decider,
        bad: Value,
        antecedents: Iterable[Value],
        localise: Callable[[Value], Value] = lambda value: value,
    ) -> None:
        self.program = program
        self.strategy = program.settings.strategy
        self.decider = decider
        self.localise = localise
        self.consequent = localise(bad)
        self.antecedents = [] if self.consequent is False else [localise(a) for a in antecedents]
        self.opened: dict[Expr, Value] = {}
        self.generation: dict[Expr, int] = {}
        self.formulas: list[Expr] = []
        self.facts = Facts()
        self._nodes: set[Expr] = set()
        self._counted = 0
        self._constrained: set[int] = set()
        self._objects: dict[Expr, int] = {}
        self._left = 0
        """Polls of the solver that may still be used."""
        self._model: Model = {}
        """The last one that was found, under which the next is looked for."""

    def folds(self) -> bool:
        """Is it proved by what its formulas force, with all operators closed?"""
        facts = Facts()
        for formula in (self.consequent, *self.antecedents):
            facts.add(formula)
            if facts.contradiction:
                return True
        return False

    def check(self, polls: int | None = None) -> Answer:
        """Algorithm 3, with a limit in polls of the solver. The consequent is looked at by itself first: most
        conditions hold wherever they are."""
        if self.folds():
            return self._answer(PROVED)
        self._left = self.program.settings.condition_polls if polls is None else polls
        if self._left <= 0:
            return self._answer(UNDECIDED, reason="the time of a function is up")
        with self.decider.session(self.strategy.incremental) as solve:
            self._assert(self.consequent)
            if not (self.strategy.antecedents_first or self.strategy.inline):
                found = self._rounds(solve, [self.consequent], youngest=0)
                if found.verdict != REFUTED:
                    return found
            for antecedent in self.antecedents:
                self._assert(antecedent)
            if self.strategy.inline and not self._open_all():
                return self._answer(UNDECIDED, reason="too many summaries to open")
            return self._rounds(solve, [self.consequent, *self.antecedents], youngest=None)

    def _rounds(self, solve: Solve, roots: list[Value], youngest: int | None) -> Answer:
        """Solve and open, until there is a verdict; operators younger than `youngest` stay closed."""
        while True:
            if self.facts.contradiction:
                return self._answer(PROVED)
            if self._left <= 0:
                return self._answer(UNDECIDED, reason="the time of a condition is up")
            before = self.decider.spent
            if self._too_large():
                return self._answer(UNDECIDED, reason="the condition is too large")
            solved: SolverAnswer | None = guessed(self._model, self.formulas, self.facts, self.opened)
            if solved is None:
                solved = solve(self.formulas, min(self.program.settings.polls, max(self._left, 1)))
            else:
                self.decider.spent += 1  # a function has an end even if all models are guessed
            self._left -= self.decider.spent - before
            if solved is UNSAT:
                return self._answer(PROVED)
            if solved is UNKNOWN:
                return self._answer(UNDECIDED, reason="the solver gave up")
            assert isinstance(solved, dict)
            self._model = solved
            chosen = self._choose(roots, solved, youngest)
            if not chosen:
                return self._answer(REFUTED, solved)
            if len(self.opened) >= self.program.settings.max_expansions and youngest is None:
                return self._answer(UNDECIDED, reason="too many summaries to open")
            for operator in chosen:
                self._open(operator)

    def _too_large(self) -> bool:
        """Walks over what was asserted since it was asked last."""
        seen = self._nodes
        stack: list[Expr] = self.formulas[self._counted :]
        self._counted = len(self.formulas)
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(operands(node))
        return len(seen) > self.program.settings.max_nodes

    def _answer(self, verdict: str, model: Model | None = None, reason: str = "") -> Answer:
        return Answer(verdict, model or {}, self.opened, reason)

    # -- Algorithms 4 and 5 -----------------------------------------------------------------------------

    def _choose(self, roots: list[Value], model: Model, youngest: int | None) -> list[Operator]:
        """The operators to be opened next: of the oldest generation that the model depends on."""
        found: list[tuple[int, bool, Operator]] = []
        seen: set[Expr] = set()
        values: dict[Expr, Value] = {}
        for root in roots:
            later = (root is self.consequent) == self.strategy.antecedents_first
            for operator in self._relevant(root, model, seen, values):
                age = self.generation.get(operator.var, 0)
                if youngest is None or age <= youngest:
                    found.append((age, later, operator))
        if not found:
            return []
        settings = self.program.settings
        several = len(self.opened) >= settings.one_by_one
        found.sort(key=lambda entry: entry[:2])  # stable: in the order of the walk
        oldest = found[0][:2]
        same = [operator for age, part, operator in found if several or (age, part) == oldest]
        return same[: settings.batch if several else 1]

    def _relevant(
        self, root: Value, model: Model, seen: set[Expr], values: dict[Expr, Value]
    ) -> Iterable[Operator]:
        """Closed operators that explain the value of a root under a model, in the order of the walk."""

        def value(node: Value) -> Value:
            return evaluate_with(node, model, values) if node.__class__ is Expr else node

        stack = [root]
        while stack:
            node = stack.pop()
            if node.__class__ is not Expr or node in seen:
                continue
            seen.add(node)
            if node.op == VAR:
                leaf = self.program.leaves.of(node)
                if isinstance(leaf, Operator):
                    if node in self.opened:
                        stack.append(self.opened[node])
                    else:
                        yield leaf
            elif node.op == ITE:
                stack += [node.b if value(node.a) else node.c, node.a]
            elif node.op in ABSORBING:
                stack += self._absorbed(node, value)
            else:
                stack += reversed(list(operands(node)))

    def _absorbed(self, node: Expr, value: Callable[[Value], Value]) -> list[Value]:
        absorbing = ABSORBING[node.op] & ((1 << node.w) - 1)
        for operand in (node.a, node.b):
            if int(value(operand)) == absorbing:
                return [operand]
        return [node.b, node.a]

    def approximations(self, consequent_only: bool) -> tuple[str, ...]:
        """Why values that the condition, or its consequent, depends on were taken as unknown; inputs of the
        program are not meant."""
        stack = [self.consequent] if consequent_only else [self.consequent, *self.antecedents]
        seen: set[Expr] = set()
        reasons: dict[str, None] = {}
        while stack:
            value = stack.pop()
            for leaf in self.program.leaves.support(value):
                if isinstance(leaf, Unknown) and not leaf.input:
                    reasons[leaf.reason] = None
                elif isinstance(leaf, Failure) and leaf.because:
                    reasons[leaf.because] = None
                elif isinstance(leaf, Uninitialised) and leaf.part:
                    reasons[f"a part of {leaf.name} that was never written"] = None
                elif leaf.var in self.opened and leaf.var not in seen:
                    seen.add(leaf.var)
                    stack.append(self.opened[leaf.var])
        return tuple(sorted(reasons))

    # -- opening ----------------------------------------------------------------------------------------

    def _open_all(self) -> bool:
        """Open every operator, and those inside them; is it done within the limits?"""
        done = 0
        while done < len(self.formulas):
            if len(self.opened) >= self.program.settings.max_expansions or self._too_large():
                return False
            for index in in_order(self.formulas[done]):
                leaf = self.program.leaves.at(index)
                if isinstance(leaf, Operator) and leaf.var not in self.opened:
                    self._open(leaf)
            done += 1
        return True

    def _open(self, operator: Operator) -> None:
        """Relink: the variable of an operator is equal to what it stands for."""
        variable = operator.var
        value = self.localise(self.program.summaries.expanded(operator))
        self.opened[variable] = value
        age = self.generation.get(variable, 0) + 1
        if value.__class__ is Expr:
            for index in expr_vars(value):
                leaf = self.program.leaves.at(index)
                if isinstance(leaf, Operator) and leaf.var not in self.opened:
                    self.generation.setdefault(leaf.var, age)
        # What is known of the variable is said of its value, where it folds.
        for test in self.facts.tests.get(variable, ()):
            said = eq(value, test.b, variable.w)
            self.facts.add(said if self.facts.known[test] else not_(said))
        same = not_(bool_xor(variable, value)) if variable.w == 1 else eq(variable, value, variable.w)
        self._assert(same)

    def _assert(self, formula: Value) -> None:
        self.facts.add(formula)
        if formula.__class__ is not Expr:
            return
        self.formulas.append(formula)
        for index in in_order(formula):
            if index not in self._constrained:
                self._constrained.add(index)
                leaf = self.program.leaves.at(index)
                fact = None if leaf is None else self._fact(leaf)
                if fact is not None and fact is not True:
                    self._assert(fact)

    def _fact(self, leaf: Leaf) -> Value | None:
        """What always holds of a leaf."""
        if isinstance(leaf, GlobalObject | LocalObject):
            number = self._objects.setdefault(leaf.var, len(self._objects) + 1)
            return eq(leaf.var, number << OBJECT_SHIFT, 64)
        if isinstance(leaf, Unknown) and leaf.bound:
            return ult(leaf.var, leaf.bound, leaf.var.w)
        if isinstance(leaf, Operator) and leaf.effect[0] == "null":
            return self._null_is_zero(leaf)
        return None

    def _null_is_zero(self, leaf: Operator) -> Value | None:
        """A result that is an explicit NULL is zero, unless it points into something that is."""
        value = self.program.nullness.pointer_of.get(leaf.var)
        if value is None or value in self.program.nullness.offsets:
            return None
        return bool_or(not_(leaf.var), eq(value, 0, 64))

"""Which of the states that left a loop become one state, by `--loops`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.machine.joining import CannotJoin
from anabranch.machine.joining.chains import items
from anabranch.machine.joining.history_tree import history_tree
from anabranch.machine.joining.numbered import Pattern
from anabranch.reduce.loops.formulas import FormulaPattern, formula_pattern
from anabranch.reduce.loops.kinds import kinds_of
from anabranch.reduce.loops.tree import execution_tree
from anabranch.reduce.loops.words import PatternLimits, regular_partitioning
from anabranch.solver.rounds import Rounds
from anabranch.solver.slices import conjuncts


class Group(NamedTuple):
    """States that are to become one."""

    states: Sequence[State]
    pattern: Pattern | None = None
    """What their histories have in common, the states in the order of its numbers. None: they are numbered in
    the order of the tree that their histories form."""


class Grouping(Protocol):
    """A way to group the states at one exit."""

    def groups(self, states: Sequence[State]) -> list[Group]:
        """All states, in groups; `CannotJoin` says why they are to be merged in pairs."""
        ...


class ByKind:
    """Rounds: one group for each branch at which states left, whatever their histories are like."""

    def __init__(self, left_by: Callable[[State], Hashable]) -> None:
        self._left_by = left_by

    def groups(self, states: Sequence[State]) -> list[Group]:
        """See Grouping."""
        return [Group(kind) for kind in kinds_of(states, self._left_by)]


class ByPattern:
    """Quantified: one group for each formula pattern (sections 3.1 to 3.3 of the paper)."""

    def __init__(self, clauses: dict[int, Rounds], limits: PatternLimits | None = None) -> None:
        """`clauses`: of the solving procedure, by the index of their number."""
        self._clauses = clauses
        self._limits = limits or PatternLimits()

    def groups(self, states: Sequence[State]) -> list[Group]:
        """See Grouping."""
        common = history_tree([state.condition for state in states]).common
        root, leaves = execution_tree([items(state.condition, common) for state in states], states)
        partitions = regular_partitioning(root, leaves, self._limits)
        if partitions is None:
            raise CannotJoin("no regular pattern")
        found = []
        for partition in partitions:
            members = [leaf.state for leaf, _ in partition.members]
            formula = formula_pattern(partition) if len(members) > 1 else None
            if formula is None:
                found += [Group([state]) for state in members]
            else:
                found.append(Group(members, QuantifiedPattern(formula, self._clauses)))
        return found


class QuantifiedPattern:
    """A formula pattern, and the clause that it gives to the solving procedure."""

    def __init__(self, formula: FormulaPattern, clauses: dict[int, Rounds]) -> None:
        self.formula = formula
        self.numbers: Sequence[int] = formula.numbers
        self._clauses = clauses

    def said(self, t: Expr) -> list[Expr]:
        """See Pattern."""
        clause = self._clauses[t.a] = self.formula.rounds(t)
        first: Any = self.formula.phi1
        said = [*(conjuncts(first) if first.__class__ is Expr else ()), *clause.unquantified()]
        return [c for c in (*said, *clause.quantified()) if c is not True]

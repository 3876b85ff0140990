"""Uses of local variables and blocks that were never written: by a branch, an access, a call or a return."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from anabranch.check.leaves import Leaf, Leaves, Memory, Uninitialised
from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value, bool_and, bool_or, expr_vars, ite, not_, operands
from anabranch.expr.node import AND, ITE, OR, VAR
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


MAX_DEPTH = 2
"""Dereferences from a parameter up to which it is asked whether the caller wrote a value."""


class Undefinedness:
    """The condition under which a value depends on something that was never written, each worked out once.

    Of what a caller's variable holds, the caller says whether it was written: the leaf `Undefined`.
    """

    def __init__(self, leaves: Leaves, choices: bool = True) -> None:
        self.leaves = leaves
        self.choices = choices
        """Does a value depend on truth values, which choose it? Else only on what is chosen."""
        self._known: dict[Expr, Value] = {}
        self._harmless: set[int] = set()
        """Variables that have been written."""

    def __call__(self, value: Value) -> Value:
        if value.__class__ is not Expr:
            return False
        if value not in self._known and self._written(value):
            return False
        stack = [value]
        while stack:
            current = stack[-1]
            if current in self._known:
                stack.pop()
                continue
            missing = [part for part in operands(current) if part not in self._known]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._known[current] = self._combined(current)
        return self._known[value]

    def _written(self, value: Expr) -> bool:
        """Is every variable of a value one that has been written? Most values are of that kind."""
        indices = expr_vars(value)
        if self._harmless.issuperset(indices):
            return True
        for index in indices:
            if index not in self._harmless:
                if self._leaf(self.leaves.at(index)) is not False:
                    return False
                self._harmless.add(index)
        return True

    def _combined(self, current: Expr) -> Value:
        known = self._known
        if current.w == 1 and not self.choices:
            return False
        if current.op == VAR:
            return self._leaf(self.leaves.of(current))
        if current.op == ITE:
            sides = [known[x] if x.__class__ is Expr else False for x in (current.b, current.c)]
            return bool_or(known[current.a], ite(current.a, sides[0], sides[1], 1))
        if current.w == 1 and current.op in (AND, OR):
            return self._absorbed(current)
        result: Value = False
        for part in operands(current):
            result = bool_or(result, known[part])
        return result

    def _absorbed(self, current: Expr) -> Value:
        """A choice between truth values is a conjunction by now: one side that is false decides it."""
        result: Value = False
        for side, other in ((current.a, current.b), (current.b, current.a)):
            undecided = not_(other) if current.op == OR else other
            result = bool_or(result, bool_and(self._known[side], bool_or(self._known[other], undecided)))
        return result

    def _leaf(self, leaf: Leaf | None) -> Value:
        if isinstance(leaf, Uninitialised):
            return True
        if isinstance(leaf, Memory) and leaf.depth <= MAX_DEPTH and self.leaves.from_parameter(leaf):
            return self.leaves.undefined(leaf.var)
        return False


class UninitialisedUse(Property):
    name = "uninitialised"
    kind = "uninitialised"
    believes_paths = False

    def doubts(self, gated: Gated, evidence: object) -> Iterable[str]:
        """Which elements of an array a program reads is often limited by what it knows of its input."""
        if isinstance(evidence, Expr):
            for leaf in gated.program.leaves.support(evidence):
                if isinstance(leaf, Uninitialised) and leaf.var in gated.memory.by_index:
                    yield f"an element of {leaf.name} that was never written"

    def use(self, gated: Gated, node: int, value: Expr, instruction: Instruction, what: str) -> None:
        self._check(gated, node, value, gated.program.undefinedness(value), instruction, what)

    def result(self, gated: Gated, node: int, value: Expr, instruction: Instruction) -> None:
        """The branch that chose a result is a use of its own."""
        bad = gated.program.undefined_data(value)
        self._check(gated, node, value, bad, instruction, "return of")

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        if address.__class__ is Expr:
            bad = gated.program.undefinedness(address)
            self._check(gated, node, address, bad, instruction, f"{what} through")

    def _check(
        self, gated: Gated, node: int, value: Expr, bad: Value, instruction: Instruction, what: str
    ) -> None:
        if bad is False or not gated.first_time("defined", value):
            return
        names = [leaf.name for leaf in gated.program.leaves.support(value) if isinstance(leaf, Uninitialised)]
        only = len(set(names)) == 1
        about = f"{names[0]}, which was never written" if only else "a value that was never written"
        message = f"{what} {about}"
        gated.condition(self, node, bad, instruction.loc, message, value, value)

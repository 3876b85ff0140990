"""Contradictions that need no solver: unit propagation over the Boolean structure of asserted formulas.

Most conditions hold for a plain reason: the pointer was compared with NULL on the way, the result of the call
was tested. That is seen by following what the asserted formulas force, a few microseconds a node.
"""

from __future__ import annotations

from anabranch.expr import Expr, Value
from anabranch.expr.node import AND, EQ, ITE, NOT, OR, XOR

MAX_DEPTH = 6
"""Connectives below an open one that are looked at to find its truth."""
MAX_PASSES = 8


class Facts:
    """What a conjunction of formulas forces."""

    __slots__ = ("_open", "contradiction", "known", "tests")

    def __init__(self) -> None:
        self.known: dict[Expr, Value] = {}
        """Truth of Boolean nodes, and numbers that others are equal to."""
        self.tests: dict[Expr, list[Expr]] = {}
        """Node -> comparisons of it with numbers, whose truth is known."""
        self._open: list[Expr] = []
        """Nodes whose truth is known and does not say yet what their operands are."""
        self.contradiction = False

    def add(self, formula: Value) -> None:
        self._assume(formula, True)
        for _ in range(MAX_PASSES):
            if self.contradiction or not self._pass():
                return

    def _assume(self, formula: Value, truth: bool) -> None:
        stack: list[tuple[Value, bool]] = [(formula, truth)]
        while stack:
            node, truth = stack.pop()
            if node.__class__ is not Expr:
                if bool(node) != truth:
                    self.contradiction = True
                continue
            if node.op == NOT:
                stack.append((node.a, not truth))
                continue
            before = self._truth(node, 1)
            if before is not None and before != truth:
                self.contradiction = True
                return
            if node in self.known:
                continue
            self.known[node] = truth
            if node.op == (AND if truth else OR):
                stack += [(node.b, truth), (node.a, truth)]
            elif node.op in (AND, OR, XOR, ITE):
                self._open.append(node)
            elif node.op == EQ and node.b.__class__ is int:
                self.tests.setdefault(node.a, []).append(node)
                if truth:
                    self.known[node.a] = node.b

    def _pass(self) -> bool:
        """Try every open node again; has anything become known?"""
        waiting, self._open = self._open, []
        before = len(self.known)
        for node in waiting:
            if not self._close(node, bool(self.known[node])):
                self._open.append(node)
            if self.contradiction:
                return False
        return len(self.known) > before

    def _close(self, node: Expr, truth: bool) -> bool:
        """Does a node of known truth say what its operands are, or does nothing depend on it any more?"""
        a = self._truth(node.a, MAX_DEPTH)
        if node.op == ITE:
            if a is not None:
                self._assume(node.b if a else node.c, truth)
                return True
            if self._truth(node.b, MAX_DEPTH) is (not truth):
                self._assume(node.a, False)
                self._assume(node.c, truth)
                return True
            if self._truth(node.c, MAX_DEPTH) is (not truth):
                self._assume(node.a, True)
                self._assume(node.b, truth)
                return True
            return False
        b = self._truth(node.b, MAX_DEPTH)
        if node.op == XOR:
            if a is not None:
                self._assume(node.b, a is not truth)
            elif b is not None:
                self._assume(node.a, b is not truth)
            return a is not None or b is not None
        # A conjunction that is false, or a disjunction that is true: one operand makes it so.
        if a is truth or b is truth:
            return True
        if a is not None:
            self._assume(node.b, truth)
            return True
        if b is not None:
            self._assume(node.a, truth)
            return True
        return False

    def _truth(self, node: Value, depth: int) -> bool | None:
        """The truth of a Boolean node, as far as it is seen."""
        if node.__class__ is not Expr:
            return bool(node)
        if node.op == NOT:
            inner = self._truth(node.a, depth)
            return None if inner is None else not inner
        known = self.known.get(node)
        if known is not None:
            return bool(known)
        if node.op == EQ and node.b.__class__ is int:
            number = self.known.get(node.a)
            return None if number is None else bool(number == node.b)
        if depth <= 0 or node.op not in (AND, OR, ITE):
            return None
        a = self._truth(node.a, depth - 1)
        if node.op == ITE:
            return None if a is None else self._truth(node.b if a else node.c, depth - 1)
        absorbing = node.op == OR
        if a is absorbing:
            return absorbing
        b = self._truth(node.b, depth - 1)
        if b is absorbing:
            return absorbing
        return None if a is None or b is None else not absorbing

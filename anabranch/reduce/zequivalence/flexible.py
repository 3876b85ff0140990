"""Which expressions of a constraint can have any value (Li et al., section 3.3, Rules 0 to 5 of Figure 6).

The paper works on a tree and tags occurrences; expressions here are graphs, in which a shared node is one
value with several uses, as a variable with several occurrences is. So the rules are read as rewriting of the
graph: a node whose value its own variables can steer is replaced by a fresh variable, a *leaf*, as often used
as the node was, and what stood below it loses a use.

    Rule 0  what has no unobservable variable below it never gets a leaf for an operand: nothing to do
    Rule 1  an unobservable variable is a leaf; used once, it is free where it is used
    Rule 2  Type I: the operand that is free decides the node, which becomes a leaf
    Rule 3  Type II: the same if all operands are free
    Rule 4  operands of a node that became a leaf lose that use (in the paper: they are flexible too)
    Rule 5  a leaf that is left with one use is free there (in the paper: k - 1 of k occurrences are flexible)

Beyond the paper: a leaf may have a part of all values (a cube of `operators.py`: masks, extensions), and a
leaf all of whose uses look at different bits is free in each of them.

Soundness of a step: the leaf's exclusive variables occur nowhere else, and for every value of all other
variables they reach exactly the leaf's values; so "some values of the variables satisfy the constraint" stays
true or false for the same observable values, and so does "some values falsify it" (Theorem 7). Rules that can
be applied stay so until they are, or until their node is dropped; hence the end does not depend on the order
(Theorem 8).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from anabranch.expr import Expr, postorder
from anabranch.expr.node import VAR
from anabranch.reduce.zequivalence.operators import Cube, Free, constant, full, image, slice_mask

_AGE = attrgetter("id")
Order = Callable[[int], int]  # which waiting node next: an index below the number of waiting ones


class Flexible:
    """The graph of a constraint's roots after the rules: live nodes, their uses, and which are leaves."""

    __slots__ = ("_waiting", "leaf", "nodes", "number", "operands", "replaced", "roots", "users", "uses")

    def __init__(self, roots: list[Expr], observable: frozenset[int]) -> None:
        self.nodes = sorted(postorder(roots), key=_AGE)  # operands are older than the nodes over them
        self.number: dict[Expr, int] = {n: i for i, n in enumerate(self.nodes)}
        self.roots: list[int] = [self.number[r] for r in roots]
        count = len(self.nodes)
        self.operands: list[tuple[int, ...]] = [()] * count
        self.users: list[list[int]] = [[] for _ in range(count)]  # one entry a use by a node
        self.uses: list[int] = [0] * count  # live ones, those as a root included; 0: dropped
        self.leaf: list[Cube | None] = [None] * count  # values of a variable or of a replaced node
        self.replaced: list[bool] = [False] * count  # leaves that are no variables
        self._waiting: list[int] = []
        for i, n in enumerate(self.nodes):
            if n.op == VAR:
                # undefined data (negative) is no variable that somebody may choose
                if n.a >= 0 and n.a not in observable:
                    self.leaf[i] = full(n.w)  # Rule 1
                    self._waiting.append(i)
                continue
            self.operands[i] = tuple([self.number[x] for x in (n.a, n.b, n.c) if x.__class__ is Expr])
            for k in self.operands[i]:
                self.users[k].append(i)
                self.uses[k] += 1
        for r in self.roots:
            self.uses[r] += 1

    # -- what canonical forms do with the graph -----------------------------------------------------------

    def drop_root(self, r: int) -> None:
        """A root that needs not be looked at any more."""
        self.uses[r] -= 1
        if self.uses[r] == 0:
            if not self.replaced[r]:
                self._release(r)
        elif self.leaf[r] is not None:
            self._waiting.append(r)

    def restrict(self, i: int, cube: Cube | None) -> None:
        """A leaf has only these values from now on; None: they are no cube, so that no rule applies."""
        self.leaf[i] = cube
        if cube is not None:
            self._waiting.append(i)

    # -- the worklist -------------------------------------------------------------------------------------

    def run(self, choose: Order | None = None) -> Flexible:
        """Applies the rules until none can be applied; each leaf is looked at when its uses become few."""
        waiting = self._waiting
        while waiting:
            i = waiting.pop() if choose is None else waiting.pop(choose(len(waiting)))
            cube = self.leaf[i]
            if cube is not None and self.uses[i]:
                if self.uses[i] == 1 or cube[1] == 0:
                    self._free(i)
                else:
                    self._sliced(i)
        return self

    def _live_users(self, i: int) -> list[int]:
        """The nodes that still use i; uses that are gone are forgotten."""
        users = self.users[i]
        live = [p for p in users if self.uses[p] and not self.replaced[p]]
        self.users[i] = live
        return live

    def _free(self, i: int) -> None:
        """Rules 2 and 3 for the one node that uses a leaf."""
        for p in self._live_users(i):
            if self.uses[p] and not self.replaced[p]:  # it may use the leaf twice
                n = self.nodes[p]
                cube = image(n, self._operand(n.a), self._operand(n.b), self._operand(n.c))
                if cube is not None:
                    self._replace(p, cube)

    def _operand(self, x: Any) -> Free:
        """The values of an operand that nothing else depends on; a constant has one."""
        if x.__class__ is Expr:
            k = self.number[x]
            cube = self.leaf[k]
            return cube if cube is not None and (self.uses[k] == 1 or cube[1] == 0) else None
        return constant(x)

    def _replace(self, p: int, cube: Cube) -> None:
        self.leaf[p] = cube
        self.replaced[p] = True
        self._release(p)
        self._waiting.append(p)

    def _release(self, p: int) -> None:
        """Rules 4 and 5: what is below loses a use, and is dropped with its last one."""
        stack = [p]
        while stack:
            for k in self.operands[stack.pop()]:
                self.uses[k] -= 1
                if self.uses[k] == 0:
                    if not self.replaced[k]:  # what is below a leaf was released when it became one
                        stack.append(k)
                elif self.leaf[k] is not None and self.uses[k] <= self.nodes[k].w:
                    self._waiting.append(k)

    def _sliced(self, i: int) -> None:
        """Uses that look at different bits of a leaf are independent of each other."""
        if self.uses[i] > self.nodes[i].w:
            return
        users = self._live_users(i)
        if len(users) != self.uses[i]:  # it is a root as well
            return
        seen = 0
        for p in users:
            mask = slice_mask(self.nodes[p])
            if mask == 0 or mask & seen:
                return
            seen |= mask
        values = self.leaf[i]
        for p in users:
            n = self.nodes[p]
            cube = image(n, values, self._operand(n.b), None)
            assert cube is not None
            self._replace(p, cube)

"""Canonical forms of state constraints: equal forms are z-equivalent (Li et al., sections 3.2 and 3.4).

Instead of unifying pairs of constraints (Table I), each gets a form in which flexible subtrees are anonymous
(case 3), unobservable variables are numbered by first occurrence (case 2), and everything else stands for
itself (cases 1, 4, 5); comparing with all earlier constraints is one lookup.

A form is a number in a table of structures, so equality is structural and never a matter of digests. Digests
only choose the order in which commutative operands and clauses are visited; where they cannot tell two apart,
the order is as built, and at worst an equivalence is missed.

Clauses and outputs that share no unobservable variable are independent: each such group has its own numbers,
a group twice is a group once, and a group that touches neither an output nor an observable variable is left
out, since some values satisfy it (the path was feasible).

What equal forms promise. The constraints, each satisfiable as those of paths are, leave the caller the same
values of observable variables: for all of them, some unobservable values satisfy the one if and only if some
satisfy the other. That is what Theorems 3 to 6 rest on. Definition 1 asks the same of the negations. It holds
as well if no clause is valid by itself, which a branch with two feasible sides never is: the form tells
whether something was left out of it, and so whether the conjunction can be false for all observable values.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from anabranch.expr import Expr
from anabranch.expr.node import VAR
from anabranch.expr.select import Table as SelectTable
from anabranch.reduce.zequivalence.clauses import Infeasible
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.operators import COMMUTATIVE
from anabranch.reduce.zequivalence.reduction import Reduction, code, reduced

REFINEMENTS = 2  # rounds in which variables are told apart by where they occur
_BITS = (1 << 61) - 1


def _parameter(x: int | SelectTable) -> int:
    return code(x.id if isinstance(x, SelectTable) else int(x))


class Table:
    """Numbers of structures. Keys are made of numbers, operators and names, never of expressions."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """The number of a structure, the same for equal keys."""
        return self._numbers.setdefault(key, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)


TABLE = Table()


def canonical_form(constraint: StateConstraint, table: Table = TABLE) -> Hashable:
    """The form of a constraint; forms of one table are comparable."""
    try:
        return _Form(reduced(constraint), table).number()
    except Infeasible:
        return table.number("infeasible")


def canonical_parts(constraint: StateConstraint, table: Table) -> tuple[int, ...]:
    """The numbers that the form of a constraint is made of, where it is part of one that can be false for all
    observable values. Parts that share no variable have the form that all their numbers make."""
    try:
        return tuple(_Form(reduced(constraint, True), table).parts())
    except Infeasible:
        return (table.number("infeasible"),)


@dataclass(slots=True, eq=False)
class _Group:
    """Outputs and clauses that share unobservable variables."""

    outputs: list[int] = field(default_factory=list)  # positions among the outputs
    clauses: list[int] = field(default_factory=list)
    leaves: int = 0
    observed: bool = False  # does an observable variable occur?


class _Form:
    """The structure of what a reduction left."""

    def __init__(self, reduction: Reduction, table: Table) -> None:
        self.reduction = reduction
        self.graph = reduction.graph
        self.table = table
        count = len(self.graph.nodes)
        self.kept: list[int] = []  # nodes below what is left, down to the leaves; operands first
        self.anonymous: list[bool] = [False] * count  # leaves without a name, and nodes over them
        self.codes: list[int] = [0] * count  # numbers of structures; codes of constants are negative
        self.below: list[tuple[int, ...]] = [()] * count  # operands: nodes, and codes of constants
        self.digest: list[int] = []
        self.groups: list[_Group] = []

    def number(self) -> int:
        """The form."""
        parts = self.parts()
        return self.table.number(("form", self.reduction.falsifiable, *parts))

    def parts(self) -> list[int]:
        """The numbers of what is left, each once, in order."""
        self._keep()
        self._mark()
        parts = self._settled()
        self._split()
        if any(g.leaves > 1 for g in self.groups):
            self._order()
        self._name_leaves()
        self._encode()
        parts += [self._group_key(g) for g in self.groups]
        return sorted(set(map(self.table.number, parts)))

    # -- what is left -------------------------------------------------------------------------------------

    def _is_leaf(self, i: int) -> bool:
        return self.graph.leaf[i] is not None or i in self.reduction.sets

    def _keep(self) -> None:
        graph, kept = self.graph, [False] * len(self.graph.nodes)
        for r in (*self.reduction.clauses, *self.reduction.outputs):
            if r >= 0:
                kept[r] = True
        for i in range(len(kept) - 1, -1, -1):
            if kept[i]:
                self.kept.append(i)
                if not self._is_leaf(i):
                    for k in graph.operands[i]:
                        kept[k] = True
        self.kept.reverse()

    def _mark(self) -> None:
        """Finds the nodes over anonymous leaves; all others get their codes at once."""
        graph, anonymous, codes, below = self.graph, self.anonymous, self.codes, self.below
        for i in self.kept:
            n, cube = graph.nodes[i], graph.leaf[i]
            if cube is not None and cube[1] == 0:
                codes[i] = code(cube[0])
            elif self._is_leaf(i):
                anonymous[i] = True
            elif n.op == VAR:
                codes[i] = self.table.number(("variable", n.a))
            else:
                parts = [x for x in (n.a, n.b, n.c) if x is not None]
                below[i] = tuple([graph.number[x] if x.__class__ is Expr else _parameter(x) for x in parts])
                anonymous[i] = any([anonymous[k] for k in graph.operands[i]])
                if not anonymous[i]:
                    codes[i] = self._node_code(i)

    def _node_code(self, i: int) -> int:
        n, codes = self.graph.nodes[i], self.codes
        parts = [codes[k] if k >= 0 else k for k in self.below[i]]
        if n.op in COMMUTATIVE:
            parts.sort()
        return self.table.number((n.op, n.w, *parts))

    def _settled(self) -> list[Hashable]:
        """The parts without anonymous leaves."""
        reduction = self.reduction
        parts: list[Hashable] = [("in", v, values) for v, values in reduction.observed]
        for (name, w), r in zip(reduction.names, reduction.outputs, strict=True):
            if r < 0:
                parts.append(("output", name, w, r))
            elif not self.anonymous[r]:
                parts.append(("output", name, w, self.codes[r]))
        parts += [("clause", self.codes[r]) for r in reduction.clauses if not self.anonymous[r]]
        return parts

    # -- groups -------------------------------------------------------------------------------------------

    def _split(self) -> None:
        """Groups of what shares leaves; those that nobody outside can notice are left out."""
        graph, anonymous, reduction = self.graph, self.anonymous, self.reduction
        above = {i: i for i in self.kept if anonymous[i]}

        def find(i: int) -> int:
            while above[i] != i:
                above[i] = above[above[i]]
                i = above[i]
            return i

        observing: list[int] = []
        for i in above:
            for k in () if self._is_leaf(i) else graph.operands[i]:
                if anonymous[k]:
                    above[find(k)] = find(i)
                elif self.codes[k] >= 0:  # no constant: over observable variables
                    observing.append(i)
        of = {i: _Group() for i in above if above[i] == i}
        for i in above:
            of[find(i)].leaves += self._is_leaf(i)
        for i in observing:
            of[find(i)].observed = True
        for position, r in enumerate(reduction.outputs):
            if r >= 0 and anonymous[r]:
                of[find(r)].outputs.append(position)
                if self._is_leaf(r):  # it has two values, so one of them is not what the caller sees
                    reduction.falsifiable = True
        for r in reduction.clauses:
            if anonymous[r]:
                of[find(r)].clauses.append(r)
        for group in of.values():
            if group.outputs or group.observed:
                self.groups.append(group)
            else:
                reduction.falsifiable = True

    # -- order and numbers of leaves ----------------------------------------------------------------------

    def _order(self) -> None:
        """Digests of nodes that depend on where their leaves occur, and not on which variables they are.

        At first a leaf is known by its values alone; while something is undecided, also by where it occurs.
        """
        leaves = [i for i in self.kept if self.anonymous[i] and self._is_leaf(i)]
        look: list[int] = [0] * len(self.graph.nodes)
        for i in leaves:
            look[i] = self._leaf_look(i)
        self._digest_up(look)
        for _ in range(REFINEMENTS):
            if not self._undecided():
                break
            context = self._digest_down()
            for i in leaves:
                look[i] = hash((look[i], context[i]))
            self._digest_up(look)

    def _undecided(self) -> bool:
        """Are there clauses of a group, or operands that may change places, with the same digest?"""
        digest, nodes = self.digest, self.graph.nodes
        for group in self.groups:
            if len({digest[r] for r in group.clauses}) < len(group.clauses):
                return True
        for i in self.kept:
            if self.anonymous[i] and nodes[i].op in COMMUTATIVE:
                x, y = self.below[i] or (0, -1)
                if x >= 0 and y >= 0 and x != y and digest[x] == digest[y]:
                    return True
        return False

    def _leaf_look(self, i: int) -> int:
        return self.table.number(
            ("leaf", self.graph.nodes[i].w, self.graph.leaf[i], self.reduction.sets.get(i))
        )

    def _digest_up(self, look: list[int]) -> None:
        nodes, digest, below = self.graph.nodes, list(look), self.below
        operator = self.table.number
        for i in self.kept:
            if not self.anonymous[i]:
                digest[i] = self.codes[i]
            elif below[i]:
                op = nodes[i].op
                parts = [digest[k] if k >= 0 else k for k in below[i]]
                if op in COMMUTATIVE:
                    parts.sort()
                digest[i] = hash((operator(op), *parts))
        self.digest = digest

    def _digest_down(self) -> list[int]:
        """For each node a sum over its uses: by what, at which operand, and where that stands in turn."""
        nodes, digest, anonymous = self.graph.nodes, self.digest, self.anonymous
        context = [0] * len(digest)
        for group in self.groups:
            for position in group.outputs:
                context[self.reduction.outputs[position]] += hash((1, position))
            for r in group.clauses:
                context[r] += hash((2, digest[r]))
        for i in reversed(self.kept):
            if anonymous[i]:
                here, alike = context[i] & _BITS, nodes[i].op in COMMUTATIVE
                for at, k in enumerate(self.below[i]):
                    if k >= 0:
                        context[k] += hash((here, digest[i], 0 if alike else at))
        return [c & _BITS for c in context]

    def _name_leaves(self) -> None:
        """Numbers the leaves of each group by first occurrence and gives them their codes."""
        for group in self.groups:
            roots = [self.reduction.outputs[position] for position in group.outputs]
            clauses = group.clauses
            if self.digest and group.leaves > 1:
                clauses = sorted(clauses, key=self.digest.__getitem__)
            self._visit(roots + clauses, group.leaves)

    def _visit(self, roots: list[int], leaves: int) -> None:
        graph, anonymous = self.graph, self.anonymous
        seen: set[int] = set()
        named = 0
        stack = roots[::-1]
        while stack and named < leaves:
            i = stack.pop()
            if i in seen:
                continue
            seen.add(i)
            if self._is_leaf(i):
                self.codes[i] = self.table.number((self._leaf_look(i), named))
                named += 1
                continue
            below = [k for k in graph.operands[i] if anonymous[k]]
            if leaves > 1 and len(below) > 1 and graph.nodes[i].op in COMMUTATIVE:
                below.sort(key=self.digest.__getitem__)
            below.reverse()
            stack += below

    def _encode(self) -> None:
        for i in self.kept:
            if self.anonymous[i] and self.below[i]:
                self.codes[i] = self._node_code(i)

    def _group_key(self, group: _Group) -> Hashable:
        reduction = self.reduction
        outputs = [(*reduction.names[p], self.codes[reduction.outputs[p]]) for p in group.outputs]
        return "group", tuple(outputs), tuple(sorted({self.codes[r] for r in group.clauses}))

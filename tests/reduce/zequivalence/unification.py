"""The paper's detection, as a reference: Rules 0 to 5 on trees, and unification by Table I (3.3, 3.4).

Slow and to the letter: every occurrence is a node of its own, rules are tried until none applies, operands
are compared in order. Operators are of the type that Definitions 3 to 5 give them.
"""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.expr import Expr, Value
from anabranch.reduce.zequivalence.constraint import StateConstraint

TYPE_I = frozenset(("add", "sub", "xor", "eq", "not", "extract"))
TYPE_III = frozenset(("zext", "sext"))


class Tree:
    """A node of the abstract syntax tree with its annotation."""

    def __init__(self, label: object, *children: Tree, variable: int | None = None) -> None:
        self.label = label  # operator with its width and constants, or an observable variable, or a constant
        self.children = children
        self.variable = variable  # of an unobservable one
        self.tag = "?" if children or variable is not None else "I"

    def nodes(self) -> Iterator[Tree]:
        for child in self.children:
            yield from child.nodes()
        yield self


def tree_of(e: Value, observable: frozenset[int]) -> Tree:
    if e.__class__ is not Expr:
        return Tree(("constant", int(e)))
    if e.op == "var":
        if e.a < 0 or e.a in observable:
            return Tree(("variable", e.a))
        return Tree(("unobservable", e.w), variable=e.a)
    operands = (e.a,) if e.op == "extract" else (e.a, e.b, e.c)
    kids = [tree_of(x, observable) for x in operands if x is not None]
    return Tree((e.op, e.w, e.c if e.op == "extract" else None), *kids)


def conjunction(a: StateConstraint) -> Tree:
    """The whole constraint; outputs are observable variables equal to their values."""
    parts = [tree_of(c, a.observable) for c in a.clauses]
    for name, value, w in a.outputs:
        parts.append(Tree(("eq", 1, None), Tree(("output", name, w)), tree_of(value, a.observable)))
    whole = Tree(("constant", 1))
    for i, part in enumerate(parts):
        whole = part if i == 0 else Tree(("and", 1, None), whole, part)
    return whole


def annotate(root: Tree) -> None:
    """Rules 0 to 5 to the fixed point."""
    nodes = list(root.nodes())
    occurrences: dict[int, list[Tree]] = {}
    for n in nodes:
        if n.children and all(c.tag == "I" for c in n.children):
            n.tag = "I"  # Rule 0; children come first
        if n.variable is not None:
            occurrences.setdefault(n.variable, []).append(n)
    changed = True
    while changed:
        changed = False
        for places in occurrences.values():
            open_ones = [n for n in places if n.tag == "?"]
            if len(open_ones) == 1:  # Rule 1 and Rule 5
                open_ones[0].tag = "F"
                changed = True
        for n in nodes:
            if n.tag == "?" and n.children and _decided(n):  # Rules 2 and 3
                n.tag = "F"
                changed = True
            if n.tag == "F":
                for child in n.children:  # Rule 4
                    if child.tag == "?":
                        child.tag = "F"
                        changed = True


def _decided(n: Tree) -> bool:
    op = n.label[0]  # type: ignore[index]
    if op in TYPE_III:
        return False
    tags = [c.tag for c in n.children]
    return "F" in tags if op in TYPE_I else all(t == "F" for t in tags)


def unifiable(a: StateConstraint, b: StateConstraint) -> bool:
    """Table I: are the two constraints the same up to FASTs and the names of unobservable variables?"""
    left, right = conjunction(a), conjunction(b)
    annotate(left)
    annotate(right)
    there: dict[int, int] = {}
    back: dict[int, int] = {}
    stack = [(left, right)]
    while stack:
        x, y = stack.pop()
        if x.tag == "F" and y.tag == "F":
            if _width(x) != _width(y):
                return False
            continue
        if x.tag == "F" or y.tag == "F" or x.label != y.label or len(x.children) != len(y.children):
            return False
        if x.variable is not None and y.variable is not None:
            if there.setdefault(x.variable, y.variable) != y.variable:
                return False
            if back.setdefault(y.variable, x.variable) != x.variable:
                return False
        stack.extend(zip(x.children, y.children, strict=True))
    return True


def _width(n: Tree) -> int:
    return n.label[1] if n.children or n.variable is not None else 1  # type: ignore[index,no-any-return]

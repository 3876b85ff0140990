"""Execution trees of a region (sections 2 and 4): nodes with conditions, paths, incremental merging."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anabranch.expr import Expr, Value, bool_and, expr_vars
from anabranch.expr.boolean import negation
from anabranch.solver import UNSAT, Backend, conjunction, disjunction
from anabranch.solver.slices import conjuncts
from anabranch.solver.valuesets import intersect, truth_set


class Node:
    """A node of an execution tree; the condition is that of the branch that leads to it."""

    __slots__ = ("children", "condition", "parent", "state")

    def __init__(self, condition: Value, parent: Node | None = None, state: Any = None) -> None:
        self.condition = condition
        """n.c: an expression, or True at the root."""
        self.parent = parent
        self.children: list[Node] = []
        self.state = state
        """n.s: whatever the owner of the tree keeps for a node; not read here."""
        if parent is not None:
            parent.children.append(self)

    def ancestors(self) -> Iterator[Node]:
        """The node and those above it, the root last."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def walk(self) -> Iterator[Node]:
        """The node and those below it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> list[Node]:
        """The nodes below (or this one) that have no children, left to right."""
        return [node for node in self.walk() if not node.children]


def condition_of(item: Any) -> Value:
    """An item of a path condition as an expression (or True)."""
    return item if item.__class__ is Expr or item.__class__ is bool else item.condition


def execution_tree(
    leaves: Sequence[Sequence[Any]], states: Sequence[Any] | None = None
) -> tuple[Node, list[Node]]:
    """The root and the node of each leaf, given the items of each on top of the common root.

    An item is an expression or an object with a `condition`; the same object is the same edge.
    """
    root = Node(True)
    known: dict[tuple[int, int], Node] = {}
    ends = []
    for number, items in enumerate(leaves):
        node = root
        for item in items:
            below = known.get((id(node), id(item)))
            if below is None:
                below = known[id(node), id(item)] = Node(condition_of(item), node)
            node = below
        if states is not None:
            node.state = states[number]
        ends.append(node)
    return root, ends


def path(end: Node, start: Node | None = None) -> list[Node]:
    """pi(start, end): the nodes on the way from one node (the root) down to another."""
    found = []
    for node in end.ancestors():
        found.append(node)
        if node is start:
            break
    else:
        if start is not None:
            raise ValueError("the end of a path is not below its start")
    return found[::-1]


def tail(end: Node, start: Node | None = None) -> Value:
    """The tail of the tree path condition (tpc with a bar): without the condition of the first node."""
    return conjunction(node.condition for node in path(end, start)[1:])


def tpc(end: Node, start: Node | None = None) -> Value:
    """The tree path condition of the way from one node (the root) down to another."""
    return conjunction(node.condition for node in path(end, start))


def exclusive(x: Value, y: Value, backend: Backend | None = None) -> bool:
    """Are two conditions mutually inconsistent? Without a backend, False may only mean "not seen"."""
    if x is False or y is False:
        return True
    if x is True or y is True:
        return False
    parts = conjuncts(y)
    for p in conjuncts(x):
        opposite, truth = negation(p), truth_set(p)
        for q in parts:
            if opposite is q:
                return True
            if truth is not None and expr_vars(p) == expr_vars(q):
                other = truth_set(q)
                if other is not None and not intersect(truth, other):
                    return True
    if negation(x) is y:
        return True
    return backend is not None and backend.solve((x, y), ()) is UNSAT


def is_execution_tree(root: Node, leaves: Sequence[Node], backend: Backend | None = None) -> bool:
    """Do siblings exclude each other, and is every given node a leaf of its own?"""
    if any(leaf.children for leaf in leaves) or len(set(map(id, leaves))) < len(leaves):
        return False
    return all(
        exclusive(x.condition, y.condition, backend)
        for node in root.walk()
        for number, x in enumerate(node.children)
        for y in node.children[:number]
    )


# ---- incremental merging (section 4) ---------------------------------------------------------------------


def lowest_common_ancestor(x: Node, y: Node) -> Node:
    """n_lca."""
    above = set(map(id, x.ancestors()))
    return next(node for node in y.ancestors() if id(node) in above)


def partner(root: Node, leaf: Node, compatible: Callable[[Node, Node], bool]) -> Node | None:
    """The highest node that a new leaf merges with: compatible, not above the leaf, and such that no node
    gets more than two children (one of the two is a child of their lowest common ancestor)."""
    above = set(map(id, leaf.ancestors()))
    level = [root]
    while level:
        for node in level:
            if id(node) not in above and compatible(leaf, node):
                lca = lowest_common_ancestor(leaf, node)
                if lca is leaf.parent or lca is node.parent:
                    return node
        level = [child for node in level for child in node.children]
    return None


def merge_nodes(x: Node, y: Node, state: Any = None) -> Node:
    """Replaces two nodes and their subtrees by one node below their lowest common ancestor."""
    lca = lowest_common_ancestor(x, y)
    new = Node(disjunction((tail(x, lca), tail(y, lca))), lca, state)
    for old in (x, y):
        _remove(old, lca)
    if lca.parent is not None:
        _collapse(lca)
    return new


def _remove(node: Node, lca: Node) -> None:
    """Takes a node out, and those above it, below the common ancestor, that lead nowhere without it."""
    parent = node.parent
    assert parent is not None
    parent.children.remove(node)
    if parent is lca:
        return
    if not parent.children:
        _remove(parent, lca)
    else:
        _collapse(parent)


def _collapse(node: Node) -> None:
    """A node with a single child gives its place to it."""
    if len(node.children) != 1:
        return
    (child,) = node.children
    parent = node.parent
    assert parent is not None
    child.condition = bool_and(node.condition, child.condition)
    child.parent = parent
    parent.children[parent.children.index(node)] = child

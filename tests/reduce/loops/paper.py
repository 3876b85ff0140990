"""Parts of the paper that the engine does in other ways, for the tests of its examples.

Trees are valid by construction in the engine, states wait for each other instead of being merged with
internal nodes (section 4), and merged values are made with the states (`machine/joining/many.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anabranch.expr import Expr, Value, bool_and, expr_vars, lookup
from anabranch.expr.boolean import negation
from anabranch.reduce.loops.synthesis import synthesise
from anabranch.reduce.loops.tree import Node, path, tail
from anabranch.solver import UNSAT, Backend, conjunction, disjunction
from anabranch.solver.slices import conjuncts
from anabranch.solver.valuesets import intersect, truth_set


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


def merged_value(values: Sequence[Value], numbers: Sequence[int], k: Expr, width: int) -> tuple[Value, bool]:
    """The value of a variable in the pattern-based merged state (Definition 3.6), and whether it is a term
    over k; if it is none, it is chosen by k, which tells the states apart (Definition 2.1)."""
    found = synthesise(values, numbers, width)
    if found is not None:
        return found.at(k), True
    places, chosen = zip(*sorted(zip(numbers, values, strict=True), key=lambda pair: pair[0]), strict=True)
    return lookup(k, places, chosen, width), False


def merged_store(
    stores: Sequence[Mapping[str, Value]], widths: Mapping[str, int], numbers: Sequence[int], k: Expr
) -> dict[str, Value]:
    """The symbolic store of the pattern-based merged state."""
    return {
        name: merged_value([store[name] for store in stores], numbers, k, width)[0]
        for name, width in widths.items()
    }

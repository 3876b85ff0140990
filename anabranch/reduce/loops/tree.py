"""Execution trees of a region (section 2): nodes with conditions, and the paths through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from anabranch.expr import Expr, Value
from anabranch.solver import conjunction


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

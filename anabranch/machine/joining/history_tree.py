"""The tree that the histories of several states form, with its leaves in the order of a number.

Histories are chains that forks share, so the tree needs no recording: states with a cell in common have a
stretch of their path in common. The states that left a loop form a caterpillar: the *spine* is what the
longest path went through, and a *leg* leaves it in each round. Leaves are numbered with the larger subtree
last, so that what holds in all later rounds is said of all numbers from one on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.state import Cons


class Edge(NamedTuple):
    """A stretch of history without a fork: its items, oldest first, and the leaves first..last below it."""

    first: int
    last: int
    items: tuple[Any, ...]


class HistoryTree(NamedTuple):
    """Everything on top of what all histories have in common."""

    common: Cons
    """The history up to the first fork."""
    order: tuple[int, ...]
    """The leaves by their number: positions in the sequence that the tree was made of."""
    edges: tuple[Edge, ...]
    """Parents before children."""


class Branch:
    """A cell where histories part or one ends, with the stretch that leads to it."""

    __slots__ = ("below", "items", "leaf", "leaves")

    def __init__(self, items: tuple[Any, ...], leaf: int) -> None:
        self.items = items
        self.leaf = leaf
        """The history that ends here; -1: none."""
        self.below: list[Branch] = []
        self.leaves = 1
        """How many histories end here or below."""


def history_tree(histories: Sequence[Cons]) -> HistoryTree:
    """The tree of some histories, none of which goes on from where another ends."""
    children, tips = _cells(histories)
    common, _ = _stretch(None, children, tips)
    root, branches = _branches(common, children, tips)
    for branch in reversed(branches):
        if branch.below:
            if branch.leaf >= 0:
                raise CannotJoin("a path that goes on from another")
            branch.leaves = sum(one.leaves for one in branch.below)
            branch.below.sort(key=lambda one: one.leaves)  # among equals in the order of arrival
    order: list[int] = []
    edges: list[Edge] = []
    stack = [root]
    while stack:
        branch = stack.pop()
        if branch is not root:
            edges.append(Edge(len(order), len(order) + branch.leaves - 1, branch.items))
        if branch.leaf >= 0:
            order.append(branch.leaf)
        stack.extend(reversed(branch.below))
    return HistoryTree(common, tuple(order), tuple(edges))


def _cells(histories: Sequence[Cons]) -> tuple[dict[int, list[Any]], dict[int, int]]:
    """The cells above each cell, in the order of the histories, and which history ends where. The histories
    keep their cells alive, so that identities are names."""
    children: dict[int, list[Any]] = {}
    tips: dict[int, int] = {}
    for number, cell in enumerate(histories):
        if id(cell) in tips:
            raise CannotJoin("the same path twice")
        tips[id(cell)] = number
        above: list[Any] = []
        while True:
            known = children.get(id(cell))
            if known is not None:
                known += above
                break
            children[id(cell)] = above
            if cell is None:
                break
            above, cell = [cell], cell[1]
    return children, tips


def _branches(
    common: Any, children: dict[int, list[Any]], tips: dict[int, int]
) -> tuple[Branch, list[Branch]]:
    """The branch where all histories part, and all branches, parents first."""
    root = Branch((), tips.get(id(common), -1))
    found = [root]
    stack = [(root, common)]
    while stack:
        branch, cell = stack.pop()
        for child in children[id(cell)]:
            end, items = _stretch(child, children, tips)
            below = Branch(items, tips.get(id(end), -1))
            branch.below.append(below)
            found.append(below)
            stack.append((below, end))
    return root, found


def _stretch(cell: Any, children: dict[int, list[Any]], tips: dict[int, int]) -> tuple[Any, tuple[Any, ...]]:
    """The first cell from a given one on where histories part or one ends, and the items up to it."""
    items = [] if cell is None else [cell[0]]
    while id(cell) not in tips and len(children[id(cell)]) == 1:
        (cell,) = children[id(cell)]
        items.append(cell[0])
    return cell, tuple(items)

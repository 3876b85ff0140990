"""The tree of live paths, for search orders that walk it.

Every fork in it has two live sides: when one side is complete, the fork is spliced out. No reference cycle
outlives an end: the cyclic collector may be off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.explore.tree import Node


class Fork:
    """A fork with two live sides. `mask` tells which of them have waiting states (1: left, 2: right)."""

    __slots__ = ("left", "mask", "right", "up")

    def __init__(self, up: Fork | None, left: Node, right: Node) -> None:
        self.up = up
        self.mask = 0
        self.left: Node | Fork | None = left
        self.right: Node | Fork | None = right


class LiveTree:
    """Forks above the tips of live paths; `up` of a tip or a fork is the fork above it."""

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: Node | Fork | None = None

    def start(self, node: Node) -> None:
        self.root = node

    def fork(self, true: Node, false: Node, node: Node) -> None:
        """The path of `node`, which is one of the two, has two sides from here on."""
        up = node.up
        fork = Fork(up, true, false)
        self._replace(node, up, fork)
        true.up = false.up = fork

    def end(self, node: Node) -> None:
        """A path ended: the other side of its fork takes the fork's place."""
        up = node.up
        if up is None:
            self.root = None
            return
        other = up.right if up.left is node else up.left
        assert other is not None
        other.up = up.up
        self._replace(up, up.up, other)
        up.left = up.right = up.up = node.up = None

    def _replace(self, old: Node | Fork, up: Fork | None, new: Node | Fork) -> None:
        if up is None:
            self.root = new
        elif up.left is old:
            up.left = new
        else:
            up.right = new

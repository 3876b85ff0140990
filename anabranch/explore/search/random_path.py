"""random-path: walk the execution tree from its root, tossing a coin at every fork."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic

from anabranch.explore.live_tree import Fork
from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order
from anabranch.explore.tree import Node


@search_order("random-path", help="a coin at every fork of the execution tree")
class RandomPath(Generic[S]):
    """A state at live depth d is picked with probability 2^-d: short paths are preferred, and a loop that
    forks at every turn does not starve the rest.

    A fork of the live tree knows which of its sides have waiting states (`mask`). A state that comes or goes
    changes its fork, and the fork above only when that turns from "none" to "some" or back, so that in a tree
    where nearly every live path waits both cost a step or two. A walk over n waiting states takes at most
    log2(n) tosses on average, whatever the shape of the tree.
    """

    description = "random-path"

    def __init__(self, context: SearchContext[S]) -> None:
        if context.tree.live_tree is None:
            raise ValueError("the execution tree does not keep its live paths")
        self._live = context.tree.live_tree
        self._bits = context.random(self.description).getrandbits
        self._count = 0

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            node = below = state.node
            if node.waiting is not None:
                raise ValueError("the state waits already")
            node.waiting = state
            fork = node.up
            while fork is not None:
                mask = fork.mask
                fork.mask = mask | (1 if fork.left is below else 2)
                if mask:
                    break
                below = fork
                fork = fork.up
        self._count += len(states)

    def remove(self, state: S) -> None:
        node = state.node
        if node.waiting is not state:
            raise KeyError("the state does not wait")
        self._take(node)

    def _take(self, node: Node) -> None:
        node.waiting = None
        self._count -= 1
        below: Node | Fork = node
        fork = node.up
        while fork is not None:
            mask = fork.mask = fork.mask & (2 if fork.left is below else 1)
            if mask:
                break
            below = fork
            fork = fork.up

    def pick(self) -> S:
        if not self._count:
            raise IndexError("no state waits")
        node = self._live.root
        bits = 1
        while type(node) is Fork:
            mask = node.mask
            if mask == 3:
                if bits == 1:
                    bits = self._bits(29) | 1 << 29
                node = node.left if bits & 1 else node.right
                bits >>= 1
            else:
                node = node.left if mask == 1 else node.right
        assert type(node) is Node
        state: S = node.waiting
        self._take(node)
        return state

    def __len__(self) -> int:
        return self._count

    def states(self) -> Iterator[S]:
        pending = [self._live.root]
        while pending:
            node = pending.pop()
            if type(node) is Fork:
                pending += (node.right, node.left)
            elif type(node) is Node and node.waiting is not None:
                yield node.waiting

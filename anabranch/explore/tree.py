"""The execution tree: where paths forked, on what, and how they ended.

Only the live part is in memory. A `Node` is the tip of a live path and stays the same object while the path
forks; every fork puts one `Fork` above it and gives the other side a new `Node`. Two sets of links serve two
purposes:

- `parent` and `side` are the history of a path, from its tip to the root: its decisions;
- `up`, `left` and `right` are the tree of live paths for random walks, in which a fork of which one side is
  complete is spliced out, so that every fork there has two live sides.

A fork lives as long as a live path goes through it. Rows of forks and ends are final when they are made and
leave in batches, so memory does not grow with the number of paths. No reference cycle outlives an end: the
cyclic collector may be off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from anabranch.explore.kinds import CONDITIONAL, MERGED

#: (ID, state number, ID of the true side, ID of the false side, block, kind of fork or end, detail): sides
#: are 0 at an end; the detail is the condition of a fork, or the position of an end in the order of ends.
Row: TypeAlias = tuple[int, int, int, int, int, str, Any]
#: (block, side taken, condition)
Decision: TypeAlias = tuple[int, bool, Any]

BATCH = 4096


class Node:
    """The tip of a live path. `waiting` is its state while that waits in a search order that walks the tree.

    The other parents of a merged path are in `ExecutionTree.merged_into`.
    """

    __slots__ = ("id", "number", "parent", "side", "up", "waiting")

    def __init__(self, id: int, number: int, parent: Fork | None, side: bool) -> None:
        self.id = id
        self.number = number
        self.parent = parent
        self.up = parent
        self.side = side
        self.waiting: Any = None


class Fork:
    """A fork on a live path. `mask` tells which live sides have waiting states (1: left, 2: right).

    `targets` are the blocks where the false and the true side go on; `hits` is kept by the order `rounds`.
    """

    __slots__ = ("block", "condition", "hits", "left", "mask", "parent", "right", "side", "targets", "up")

    def __init__(
        self,
        block: int,
        condition: Any,
        parent: Fork | None,
        up: Fork | None,
        side: bool,
        targets: tuple[int, int],
    ) -> None:
        self.block = block
        self.targets = targets
        self.hits: Any = None
        self.condition = condition
        self.parent = parent
        self.up = up
        self.side = side
        self.mask = 0
        self.left: Node | Fork | None = None
        self.right: Node | Fork | None = None


class ExecutionTree:
    """Forks and ends of all paths of a run, in the order in which they happened.

    `sink` receives final rows, `batch` or a few more at a time; without one the rows are dropped.
    """

    __slots__ = ("_batch", "_rows", "_sink", "ends", "merged_into", "root", "states")

    def __init__(
        self,
        sink: Callable[[list[Row]], None] | None = None,
        merged_into: dict[int, int] | None = None,
        batch: int = BATCH,
    ) -> None:
        self._sink = sink
        self._batch = batch
        self._rows: list[Row] = []
        self.root: Node | Fork | None = None
        """Root of the tree of live paths."""
        self.ends = 0
        self.states = 0
        """Number of states there ever were: the last state number given."""
        self.merged_into: dict[int, int] = {} if merged_into is None else merged_into
        """Node that ended -> node that goes on for both: the further parents of nodes, until written."""

    @property
    def forks(self) -> int:
        return max(self.states - 1, 0)

    @property
    def live(self) -> int:
        """Live paths, waiting or running."""
        return self.states - self.ends

    def start(self) -> Node:
        """The first path."""
        if self.states:
            raise ValueError("the execution tree has its root already")
        self.states = 1
        node = self.root = Node(1, 1, None, True)
        return node

    def fork(
        self,
        node: Node,
        block: int,
        condition: Any,
        polarity: bool = True,
        targets: tuple[int, int] | None = None,
        kind: str = CONDITIONAL,
    ) -> Node:
        """The path of `node` goes on with `condition` being `polarity`; returns the tip of the other path.
        `targets`: the blocks where the false and the true side go on, if not in the block itself.

        The path must not be waiting.
        """
        up = node.up
        fork = Fork(block, condition, node.parent, up, node.side, targets or (block, block))
        if up is None:
            self.root = fork
        elif up.left is node:
            up.left = fork
        else:
            up.right = fork
        states = self.states
        true_id = 2 * states
        false_id = true_id + 1
        self.states = states = states + 1
        rows = self._rows
        rows.append((node.id, node.number, true_id, false_id, block, kind, condition))
        node.parent = node.up = fork
        node.side = polarity
        if polarity:
            node.id = true_id
            sibling = Node(false_id, states, fork, False)
            fork.left = node
            fork.right = sibling
        else:
            node.id = false_id
            sibling = Node(true_id, states, fork, True)
            fork.left = sibling
            fork.right = node
        if len(rows) >= self._batch:
            self.flush()
        return sibling

    def end(self, node: Node, block: int, reason: str) -> None:
        """The path of `node` ends. Its state must not be waiting."""
        if node.waiting is not None:
            raise ValueError("a waiting state must leave the search before its path ends")
        up = node.up
        if up is None:
            if self.root is not node:
                raise ValueError("this path has ended already")
            self.root = None
        else:
            other = up.right if up.left is node else up.left
            assert other is not None
            above = up.up
            other.up = above
            if above is None:
                self.root = other
            elif above.left is up:
                above.left = other
            else:
                above.right = other
            up.left = up.right = up.up = None
            node.up = None
        self.ends += 1
        rows = self._rows
        rows.append((node.id, node.number, 0, 0, block, reason, self.ends))
        if len(rows) >= self._batch:
            self.flush()

    def join(self, kept: Node, gone: Node, block: int) -> None:
        """The path of `gone` goes on as part of that of `kept`, which has one more parent from here on."""
        self.merged_into[gone.id] = kept.id
        self.end(gone, block, MERGED)

    def flush(self) -> None:
        """Hand the rows made so far to the sink."""
        rows = self._rows
        if rows:
            self._rows = []
            if self._sink is not None:
                self._sink(rows)


def decisions(node: Node) -> list[Decision]:
    """The forks on the path to `node`, first one first."""
    taken: list[Decision] = []
    side, fork = node.side, node.parent
    while fork is not None:
        taken.append((fork.block, side, fork.condition))
        side, fork = fork.side, fork.parent
    taken.reverse()
    return taken

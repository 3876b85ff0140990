"""The execution tree: where paths forked, on what, and how they ended.

A `Node` is the tip of a live path and stays the same object while the path forks; every fork gives the other
side a new `Node`. What is kept depends on who asked for it:

- `parent` and `side`, the history of a path from its tip to the root, always: its decisions explain errors;
- the tree of live paths (`live_tree.py`), if a search order walks it;
- rows of forks and ends, if there is a sink for them. They are final when they are made and leave in batches.

So memory does not grow with the number of paths that have ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from anabranch.explore.kinds import CONDITIONAL, MERGED
from anabranch.explore.live_tree import Fork, LiveTree

#: (ID, state number, ID of the true side, ID of the false side, block, kind of fork or end, detail): sides
#: are 0 at an end; the detail is the condition of a fork, or the position of an end in the order of ends.
Row: TypeAlias = tuple[int, int, int, int, int, str, Any]
#: (block, side taken, condition)
Decision: TypeAlias = tuple[int, bool, Any]
#: (block, condition, the fork before it, the side that was taken there, blocks where false and true go on)
Parent: TypeAlias = tuple[Any, ...] | None

BATCH = 4096


class Node:
    """The tip of a live path.

    The other parents of a merged path are in `ExecutionTree.merged_into`.
    """

    __slots__ = ("id", "number", "parent", "side", "up", "waiting")

    id: int
    """Of the node in the rows, where these are kept: the path has another one after each fork."""
    number: int
    """Of the state."""
    parent: Parent
    """The last fork on the path."""
    side: bool
    """The side that the path took there."""
    up: Fork | None
    """The fork above it in the tree of live paths, if that is kept."""
    waiting: Any
    """Its state while that waits in a search order that walks the tree; `ENDED` when the path has ended."""


ENDED = object()


def new_node(number: int) -> Node:
    node = Node()
    node.id = node.number = number
    node.side = True
    node.parent = node.up = node.waiting = None
    return node


class ExecutionTree:
    """Forks and ends of all paths of a run, in the order in which they happened.

    `sink` receives final rows, `batch` or a few more at a time; without one there are no rows. `walked`: is
    the tree of live paths kept?
    """

    __slots__ = ("_batch", "_rows", "_sink", "ends", "live_tree", "merged_into", "states")

    def __init__(
        self,
        sink: Callable[[list[Row]], None] | None = None,
        merged_into: dict[int, int] | None = None,
        batch: int = BATCH,
        walked: bool = True,
    ) -> None:
        self._sink = sink
        self._batch = batch
        self._rows: list[Row] = []
        self.live_tree = LiveTree() if walked else None
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
        node = new_node(1)
        if self.live_tree is not None:
            self.live_tree.start(node)
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

        The path must not be waiting. `targets` are the blocks where the false and the true side go on, if not
        in the same block.
        """
        states = self.states
        self.states = states + 1
        sibling = Node()  # as new_node makes it; this is done for every path
        sibling.id = sibling.number = states + 1
        sibling.parent = node.parent = (block, condition, node.parent, node.side, targets)
        sibling.side = not polarity
        sibling.up = sibling.waiting = None
        node.side = polarity
        if self._sink is not None:
            self._record((node.id, node.number, 2 * states, 2 * states + 1, block, kind, condition))
            node.id = 2 * states + (not polarity)
            sibling.id = 2 * states + polarity
        if self.live_tree is not None:
            true, false = (node, sibling) if polarity else (sibling, node)
            self.live_tree.fork(true, false, node)
        return sibling

    def end(self, node: Node, block: int, reason: str) -> None:
        """The path of `node` ends. Its state must not be waiting."""
        if node.waiting is not None:
            if node.waiting is ENDED:
                raise ValueError("this path has ended already")
            raise ValueError("a waiting state must leave the search before its path ends")
        node.waiting = ENDED
        self.ends += 1
        if self.live_tree is not None:
            self.live_tree.end(node)
        if self._sink is not None:
            self._record((node.id, node.number, 0, 0, block, reason, self.ends))

    def join(self, kept: Node, gone: Node, block: int) -> None:
        """The path of `gone` goes on as part of that of `kept`, which has one more parent from here on."""
        if self._sink is not None:
            self.merged_into[gone.id] = kept.id
        self.end(gone, block, MERGED)

    def _record(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) >= self._batch:
            self.flush()

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
        block, condition, fork, before, _ = fork
        taken.append((block, side, condition))
        side = before
    taken.reverse()
    return taken

"""rounds: paths that have gone round a loop more often than any before.

An input that overflows a buffer often has to take a loop a certain number of times, and covers nothing new on
the way, so that orders which go by coverage see no difference between its path and others. Fuzzers reward a
new power of two in the number of times that an input reaches a block. This order does the same with paths. A
*record* is a block with a power of two, numbered when some path first came to the block that many times at
forks. Waiting states are grouped by the newest record that their paths have.

Half of the turns go on with the path that is nearest to the next record, as long as it gets nearer. That
path may come to nothing, because its input is too short, say. So in the other half the groups take turns,
each with the nearest path, with the one that got so far by the fewest forks, and with any one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Generic, NamedTuple

from immutables import Map

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order
from anabranch.explore.tree import Parent

FORKS_KEPT = 4096  # forks whose hits are remembered, of the paths that ran last; others are counted again


class Hits(NamedTuple):
    """What a path has done up to a fork."""

    by_block: Map[int, int]
    """How often it came to each block."""
    record: int
    """The newest of the records that it has."""


_NONE = Hits(Map(), 0)


class _Group(Generic[S]):
    """The waiting states with the same newest record."""

    __slots__ = ("block", "by_depth", "entries", "most", "picks", "waiting")

    def __init__(self, block: int, picks: int) -> None:
        self.block = block
        """Of the record."""
        self.picks = picks
        """Turns that it has had among the groups."""
        self.most = 0
        """The most hits of the block that a path of the group has had."""
        self.waiting = 0
        self.entries: list[list[Any]] = []
        """A heap of [hits of the block negated, arrival, state]; None in place of a state that is gone."""
        self.by_depth: list[tuple[int, int, list[Any]]] = []
        """A heap of (forks on the path, arrival, entry)."""


@search_order("rounds", help="paths that have gone round a loop more often than others")
class Rounds(Generic[S]):
    """Groups by the newest record: the one that improves, or the one that has had the fewest turns."""

    description = "rounds"

    def __init__(self, context: SearchContext[S], forks_kept: int = FORKS_KEPT) -> None:
        self._forks_kept = forks_kept
        self._records: dict[tuple[int, int], int] = {}  # (block, hits) -> number of the record
        self._blocks = [-1]  # of each record; before the first fork a path has none
        self._groups: dict[int, _Group[S]] = {}
        self._turns: list[tuple[int, int]] = []  # a heap of (picks, record negated), one a group with entries
        self._entry: dict[S, tuple[_Group[S], list[Any], Hits]] = {}
        self._random = context.random(self.description).random
        self._picks = 0
        self._arrivals = 0
        self._level = 0  # turns that the group picked last has had
        self._improved: _Group[S] | None = None  # the last group in which a path came nearer to a record
        self._forks: dict[int, tuple[Parent, Hits]] = {}  # by identity: what a path had done before a fork

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            before = self._before(state.node.parent)
            hits = self._after(before, state.node.parent, state.node.side)
            group = self._groups.get(hits.record)
            if group is None:
                # A new group is behind the others, but not so far that it has all turns until it is even.
                group = self._groups[hits.record] = _Group(self._blocks[hits.record], self._level // 2)
            if not group.entries:
                heappush(self._turns, (group.picks, -hits.record))
            count = hits.by_block.get(group.block, 0)
            if count > group.most:
                group.most = count
                self._improved = group
            self._arrivals += 1
            entry = [-count, self._arrivals, state]
            heappush(group.entries, entry)
            heappush(group.by_depth, (state.depth, self._arrivals, entry))
            self._entry[state] = group, entry, before
            group.waiting += 1

    def remove(self, state: S) -> None:
        group, entry, before = self._entry.pop(state)
        entry[2] = None
        group.waiting -= 1
        if len(group.entries) > 2 * group.waiting + 64:
            group.entries = [entry for entry in group.entries if entry[2] is not None]
            heapify(group.entries)
            group.by_depth = [item for item in group.by_depth if item[2][2] is not None]
            heapify(group.by_depth)
        self._keep(state.node.parent, before)

    def pick(self) -> S:
        self._picks += 1
        group, self._improved = self._improved, None
        if group is not None and group.waiting and self._picks & 1:
            state = self._best(group)
        else:
            group = self._next_group()
            group.picks += 1
            self._level = group.picks
            state = (self._best, self._shallowest, self._any)[group.picks % 3](group)
        self.remove(state)
        return state

    def _next_group(self) -> _Group[S]:
        while self._turns:
            picks, record = heappop(self._turns)
            group = self._groups[-record]
            if group.waiting:
                heappush(self._turns, (picks + 1, record))
                return group
            group.by_depth.clear()
            group.entries.clear()  # so that it is entered again with its next state
        raise IndexError("no state waits")

    def _best(self, group: _Group[S]) -> S:
        """The state that is nearest to the next record, the oldest first."""
        while True:
            state: S | None = group.entries[0][2]
            if state is not None:
                return state
            heappop(group.entries)

    def _shallowest(self, group: _Group[S]) -> S:
        """The state whose path got so far with the fewest forks: it has most of its input left."""
        while True:
            state: S | None = group.by_depth[0][2][2]
            if state is not None:
                return state
            heappop(group.by_depth)

    def _any(self, group: _Group[S]) -> S:
        while True:
            state: S | None = group.entries[int(self._random() * len(group.entries))][2]
            if state is not None:
                return state

    def __len__(self) -> int:
        return len(self._entry)

    def states(self) -> Iterator[S]:
        return iter(self._entry)

    # ---- counting ------------------------------------------------------------------------------------

    def _before(self, fork: Parent) -> Hits:
        """What a path had done before a fork, from what is known of the forks above it."""
        unknown: list[Any] = []
        hits = _NONE
        while fork is not None:
            known = self._forks.get(id(fork))
            if known is not None:
                hits = known[1]
                break
            unknown.append(fork)
            fork = fork[2]
        for fork in reversed(unknown):
            above: Parent = fork[2]
            if above is not None:
                hits = self._after(hits, above, fork[3])
            self._keep(fork, hits)
        return hits

    def _after(self, hits: Hits, fork: Parent, side: bool) -> Hits:
        """What a path has done when it has taken a side."""
        if fork is None:
            return hits
        targets: tuple[int, int] | None = fork[4]
        block: int = fork[0] if targets is None else targets[side]
        count = hits.by_block.get(block, 0) + 1
        record = hits.record
        if not count & (count - 1):
            record = max(record, self._record(block, count))
        return Hits(hits.by_block.set(block, count), record)

    def _record(self, block: int, count: int) -> int:
        """The number of the record that a path has which came to a block so many times."""
        number = self._records.get((block, count))
        if number is None:
            number = self._records[block, count] = len(self._blocks)
            self._blocks.append(block)
        return number

    def _keep(self, fork: Parent, hits: Hits) -> None:
        if fork is not None:
            if len(self._forks) >= self._forks_kept:
                self._forks.clear()
            self._forks[id(fork)] = fork, hits

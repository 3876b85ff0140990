"""rounds: paths that have gone round a loop more often than any before.

An input that overflows a buffer often has to take a loop a certain number of times, and covers nothing new on
the way, so that orders which go by coverage see no difference between its path and others. Fuzzers reward a
new power of two in the number of times that an input reaches a block. This order does the same with paths. A
*record* is a block with a power of two, in the order in which they were first met: a path has it if it came to
the block, at forks, that many times. Waiting states are grouped by the newest record that their paths have,
and the groups take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Generic, NamedTuple

from immutables import Map

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import search_order
from anabranch.explore.tree import Fork, Node


class Hits(NamedTuple):
    """What a path has done so far."""

    by_block: Map[int, int]
    """How often it came to each block at a fork."""
    record: int
    """The newest of the records that it has."""


class _Group(Generic[S]):
    """The waiting states with the same newest record."""

    __slots__ = ("block", "entries", "most", "picks", "waiting")

    def __init__(self, block: int, picks: int) -> None:
        self.block = block
        """Of the record."""
        self.picks = picks
        """Turns that its states have had."""
        self.entries: list[list[Any]] = []
        """A heap of [hits of the block negated, arrival, state]; None in place of a state that is gone."""
        self.waiting = 0
        self.most = 0


@search_order("rounds", help="paths that have gone round a loop more often than others")
class Rounds(Generic[S]):
    """The group that has had the fewest turns, the newest first; in it the state that is nearest to the next
    record, the oldest first."""

    description = "rounds"

    def __init__(self, context: SearchContext[S]) -> None:
        self._records: dict[tuple[int, int], int] = {}  # (block, hits) -> number of the record
        self._blocks = [-1]  # of each record; before the first fork a path has none
        self._groups: dict[int, _Group[S]] = {}
        self._turns: list[tuple[int, int]] = []  # a heap of (picks, record negated), one a group with entries
        self._entry: dict[S, tuple[_Group[S], list[Any]]] = {}
        self._random = context.random(self.description).random
        self._picks = 0
        self._improved: _Group[S] | None = None
        self._arrivals = 0
        self._level = 0  # turns that the group picked last has had

    def add(self, states: Sequence[S]) -> None:
        for state in states:
            hits = self._hits(state.node)
            group = self._groups.get(hits.record)
            if group is None:
                group = self._groups[hits.record] = _Group(self._blocks[hits.record], self._level // 2)
            if not group.entries:
                heappush(self._turns, (group.picks, -hits.record))
            self._arrivals += 1
            count = hits.by_block.get(group.block, 0)
            if count > group.most:
                group.most = count
                self._improved = group
            entry = [-hits.by_block.get(group.block, 0), self._arrivals, state]
            heappush(group.entries, entry)
            self._entry[state] = group, entry
            group.waiting += 1

    def remove(self, state: S) -> None:
        group, entry = self._entry.pop(state)
        entry[2] = None
        group.waiting -= 1
        if len(group.entries) > 2 * group.waiting + 64:
            group.entries = [entry for entry in group.entries if entry[2] is not None]
            heapify(group.entries)

    def pick(self) -> S:
        self._picks += 1
        group = self._improved
        if self._picks & 1 and group is not None and group.waiting:
            self._improved = None
            group.waiting -= 1
            state = self._best(group)
            del self._entry[state]
            return state
        while self._turns:
            _, record = heappop(self._turns)
            group = self._groups[-record]
            if not group.waiting:
                group.entries.clear()
                continue
            group.picks += 1
            state = self._best(group) if group.picks & 1 else self._any(group)
            group.waiting -= 1
            self._level = group.picks
            if group.entries:
                heappush(self._turns, (group.picks, record))
            del self._entry[state]
            return state
        raise IndexError("no state waits")

    def _best(self, group: _Group[S]) -> S:
        while True:
            state: S | None = heappop(group.entries)[2]
            if state is not None:
                return state

    def _any(self, group: _Group[S]) -> S:
        entries = group.entries
        while True:
            entry = entries[int(self._random() * len(entries))]
            state: S | None = entry[2]
            if state is not None:
                entry[2] = None
                return state

    def __len__(self) -> int:
        return len(self._entry)

    def states(self) -> Iterator[S]:
        return iter(self._entry)

    def _hits(self, node: Node) -> Hits:
        """What the path has done, from what was kept at the nearest fork of it that another path has passed."""
        steps: list[tuple[Fork, bool]] = []  # newest first
        fork, side = node.parent, node.side
        hits = Hits(Map(), 0)
        while fork is not None:
            steps.append((fork, side))
            if fork.hits is not None:
                hits = fork.hits
                break
            fork, side = fork.parent, fork.side
        by_block, record = hits
        for fork, side in reversed(steps):
            if fork.hits is None:
                fork.hits = Hits(by_block, record)
            block = fork.targets[side]
            count = by_block.get(block, 0) + 1
            by_block = by_block.set(block, count)
            if not count & (count - 1):
                record = max(record, self._record(block, count))
        return Hits(by_block, record)

    def _record(self, block: int, count: int) -> int:
        """The number of the record that a path has which came to a block so many times."""
        number = self._records.get((block, count))
        if number is None:
            number = self._records[block, count] = len(self._blocks)
            self._blocks.append(block)
        return number

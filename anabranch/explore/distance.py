"""How far a waiting state is from code not yet covered, in instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Generic, NamedTuple

from anabranch.analysis.distance import DistanceGraph
from anabranch.explore.coverage import BlockTable
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.protocols import S
from anabranch.explore.search.context import UNREACHABLE

MAX_FRAMES = 16
"""Callers that are considered: code further away hardly changes a weight."""


class Distances(NamedTuple):
    """By counter number: ways from a block to uncovered code, and to the return of its function."""

    to_uncovered: Sequence[int]
    to_return: Sequence[int]


class UncoveredMeasure:
    """Measures all blocks of the functions translated so far. Targets are the user's blocks that were not
    executed, those of functions never translated included."""

    def __init__(
        self, table: BlockTable, counters: Sequence[int], build_graph: Callable[[], DistanceGraph]
    ) -> None:
        self._table = table
        self._counters = counters
        self._build_graph = build_graph
        self._graph: DistanceGraph | None = None

    def __call__(self) -> Distances:
        graph = self._graph
        if graph is None:
            graph = self._graph = self._build_graph()
        to_targets = graph.to_targets(self._table.uncovered_blocks(self._counters))
        to_uncovered: list[int] = []
        to_return: list[int] = []
        for number in range(self._table.size):
            name = self._table.function_of(number).name
            block = self._table.block_of(number)
            if block is None or name not in to_targets:
                to_uncovered.append(UNREACHABLE)
                to_return.append(UNREACHABLE)
            else:
                to_uncovered.append(min(to_targets[name][block], UNREACHABLE))
                to_return.append(min(graph.to_return[name][block], UNREACHABLE))
        return Distances(to_uncovered, to_return)


class UncoveredDistance(Generic[S]):
    """Distance of a state to the nearest uncovered block: from its block, or from a caller after returning.

    `measure` is asked again when coverage has changed, but not before `patience` uses of the last answer (by
    default in proportion to the number of blocks, so that measuring stays cheaper than executing), or at once
    for a block that is newer than the last answer; it answers for every number given so far. `callers` gives
    the blocks of a state's pending calls, innermost first. Where there is no time (`may_measure`), the last
    answer stays, and blocks that are newer than it count as far away.
    """

    __slots__ = (
        "_callers",
        "_distances",
        "_may_measure",
        "_measure",
        "_new",
        "_nothing_left",
        "_patience",
        "_uses",
        "_version",
        "measured",
    )

    def __init__(
        self,
        new: NewCoverage,
        measure: Callable[[], Distances],
        callers: Callable[[S], Iterable[int]] | None = None,
        patience: int | None = None,
        may_measure: Callable[[], bool] = lambda: True,
    ) -> None:
        self._new = new
        self._may_measure = may_measure
        self._measure = measure
        self._callers = callers
        self._patience = patience
        self._distances = Distances((), ())
        self._version = -1
        self._uses = 0
        self._nothing_left = False  # all that can be reached is covered
        self.measured = 0
        """How often the distances were computed."""

    def __call__(self, state: S) -> int:
        if self._version != self._new.version:
            self._uses += 1
            patience = self._patience
            if self._uses > (64 + len(self._distances[0]) if patience is None else patience):
                self._uses = 0
                self._refresh()
        if self._nothing_left:
            return UNREACHABLE
        block = state.place
        to_uncovered, to_return = self._distances
        if block >= len(to_uncovered):
            if not self._refresh():
                return UNREACHABLE
            to_uncovered, to_return = self._distances
        nearest = to_uncovered[block]
        if self._callers is None:
            return nearest
        way = to_return[block]
        if way >= nearest:
            return nearest
        for caller in islice(self._callers(state), MAX_FRAMES):
            if caller >= len(to_uncovered):
                return self(state) if self._refresh() else nearest
            nearest = min(nearest, way + to_uncovered[caller])
            way += to_return[caller]
            if way >= nearest:
                break
        return nearest

    def _refresh(self) -> bool:
        """Measure anew, if there is time for it."""
        if not self._may_measure():
            return False
        self._distances = self._measure()
        self._version = self._new.version
        self._uses = 0
        self._nothing_left = min(self._distances.to_uncovered, default=0) >= UNREACHABLE
        self.measured += 1
        return True

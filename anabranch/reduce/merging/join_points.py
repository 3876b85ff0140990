"""Join points: where paths that part come together again, and which location comes before which.

A fork arms the join points of its branch on both paths; a path that arrives at one of its own stops there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.analysis.cfg import build_cfg, graph, reachable_from, reverse_edges
from anabranch.analysis.dominators import post_dominators
from anabranch.analysis.induction import loop_counters
from anabranch.analysis.loops import Loop, LoopForest, find_loops
from anabranch.analysis.order import topological_order
from anabranch.expr import Expr
from anabranch.expr.node import ROUND_NUMBERS
from anabranch.ir.module import Function
from anabranch.ir.types import to_signed
from anabranch.machine import Machine, Path, State
from anabranch.machine.joining.values import distance
from anabranch.machine.state import Cons, Continuation, Slot, callers
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.extra import MergeExtra

Rank = tuple[tuple[int, int], ...]
JoinPoint = tuple[int, int, int]
"""Where a path is to wait: counter of the block, depth of the frame, and at the header of a loop how
far the path had come when it was last there (`Progress`); elsewhere -1."""

FAR = 1 << 72
"""Added to what counters say, so that it is never negative."""


class FunctionJoinPoints:
    """Join points and ranks of the blocks of one function."""

    __slots__ = ("behind", "counters", "joins", "loops", "ranks")

    def __init__(self, function: Function) -> None:
        cfg = build_cfg(function)
        self.ranks = [len(function.blocks)] * len(function.blocks)
        for rank, block in enumerate(topological_order(cfg)):
            self.ranks[block] = rank
        self.joins = join_blocks(function)
        loops = find_loops(cfg)
        around = [headers_around(loops, block) for block in range(len(function.blocks))]
        self.loops = around
        """Headers of the loops around each block, outermost first."""
        exits = {header: loop_exit(loop, self.joins) for header, loop in loops.loops.items()}
        self.behind = [
            self._behind(joined, [loops.loops[h] for h in around[block]], exits)
            for block, joined in enumerate(self.joins)
        ]
        """Where paths that part in a block may meet, the nearest first: blocks of the function, each with
        whether it is the header of a loop that they go round."""
        self.counters = {header: loop_counters(function, loop) for header, loop in loops.loops.items()}
        """Of every loop, by its header."""

    def _behind(self, joined: int, around: list[Loop], exits: dict[int, int]) -> list[tuple[int, bool]]:
        """The sides of a fork meet at its join point. Paths that are not merged there meet at the headers of
        the loops around it, one that took few rounds with one that took many, and behind these loops."""
        found: list[tuple[int, bool]] = []
        for loop in reversed(around):
            if joined in loop.blocks and (joined, False) not in found:
                found.append((joined, False))
            found.append((loop.header, True))
            behind = exits[loop.header]
            if behind >= 0:
                found.append((behind, False))
                if loop.parent < 0 and self.joins[behind] >= 0:  # for those that are kept apart behind it
                    found.append((self.joins[behind], False))
        if joined >= 0:
            found.append((joined, False))
        return list(dict.fromkeys(found))


def headers_around(loops: LoopForest, block: int) -> list[int]:
    headers = []
    header = loops.innermost[block]
    while header >= 0:
        headers.append(header)
        header = loops.loops[header].parent
    return headers[::-1]


def loop_exit(loop: Loop, joins: Sequence[int]) -> int:
    """The first block behind a loop that all its paths to a return have in common; -1 for none."""
    block = joins[loop.header]
    while block in loop.blocks:
        block = joins[block]
    return block


def join_blocks(function: Function) -> list[int]:
    """For each block the first one that all its paths to a return have in common; -1 for none.

    Paths that never return (they end in `exit` or `abort`) meet nobody, so they do not count. A block from
    which only one way goes on has no join point of its own.
    """
    cfg = build_cfg(function)
    returns = [b.index for b in function.blocks if b.instructions[-1].opcode == "ret"]
    returning = reachable_from(reverse_edges(cfg.successors), returns)
    kept = [[t for t in targets if t in returning] for targets in cfg.successors]
    tree = post_dominators(graph(kept))
    exit_node = len(function.blocks)
    joins = []
    for block in range(len(function.blocks)):
        parent = tree.parent[block] if block in returning else -1
        joins.append(parent if parent != exit_node else -1)
    return joins


class JoinPoints:
    """Join points and order of locations for a whole program; functions are analysed when first met."""

    def __init__(self, machine: Machine, slot: Slot[MergeExtra]) -> None:
        self._path = machine.path
        self._stops = machine.stops
        self._slot = slot
        self._functions: dict[str, FunctionJoinPoints] = {}

    def of(self, unit: Any) -> FunctionJoinPoints:
        found = self._functions.get(unit.function.name)
        if found is None:
            found = self._functions[unit.function.name] = FunctionJoinPoints(unit.function)
        return found

    def behind(self, unit: Any, block: int, continuation: Continuation) -> list[JoinPoint]:
        """Where the paths that part in a block meet again, the nearest last. If that is the return of the
        function, it is where the paths of the caller meet after the call."""
        found: list[JoinPoint] = []
        while True:
            points, depth = self.of(unit), continuation[2]
            segments = unit.counters.segments
            found += [(segments[b, 0], depth, 0 if again else -1) for b, again in points.behind[block]]
            if points.joins[block] >= 0:
                break
            site = continuation[1]
            if site is None:
                break
            unit, block, continuation = site.unit, site.block, continuation[0]
        return found[::-1]

    # ---- the running path ----------------------------------------------------------------------------

    def arm(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        """The running path is about to fork: both sides will stop where they meet again."""
        extra = self._slot.get(self._path)
        armed = extra.armed
        for point in self.behind(site.unit, site.block, continuation):
            if not is_armed(armed, point):
                armed = (point, armed)
                self._stops.install(point[0])
        if armed is not extra.armed:
            self._slot.put(self._path, MergeExtra(armed, extra.recent, extra.merged_at))

    def reached(self, number: int, target: Target, values: tuple[Any, ...], depth: int) -> JoinPoint | None:
        """The running path came to a join point. If it is one of its own, that one is crossed off, and those
        before it."""
        path, extra = self._path, self._slot.get(self._path)
        armed = extra.armed
        while armed is not None and armed[0][1] > depth:
            armed = armed[1]  # of frames that have returned
        point: JoinPoint | None = None
        found = armed
        while found is not None and found[0][1] == depth:
            if found[0][0] == number:
                point = found[0]
                assert point is not None
                before, armed = point[2], found[1]
                if before >= 0:
                    now = self._position(target, values)
                    armed = ((number, depth, progress(path, before) if now is None else now), armed)
                break
            found = found[1]
        if armed is not extra.armed:
            self._slot.put(path, MergeExtra(armed, extra.recent, extra.merged_at))
        return point

    def _position(self, target: Target, values: tuple[Any, ...]) -> int | None:
        """How far round a loop a path is that came to its header: what the counters of the loop say, or None
        where there are none. Of a symbolic one the constant part counts."""
        total = None
        for counter in self.of(target.unit).counters[target.block]:
            name = f"v{counter.local}"
            if name in target.names:
                value = values[target.names.index(name)]
                if value.__class__ is Expr:
                    value = distance(value)[1]
                total = (FAR if total is None else total) + counter.sign * to_signed(
                    int(value), counter.width
                )
        return total

    # ---- the order of locations ----------------------------------------------------------------------

    def rank(self, state: State) -> Rank:
        """Sorts states topologically: those that can still come to where others are come first.

        In a loop, that is those with the least progress when they last came to a header.
        """
        rounds: dict[tuple[int, int], int] = {}
        armed = self._slot.get(state).armed
        while armed is not None:
            number, depth, progress = armed[0]
            if progress >= 0:
                rounds[number, depth] = progress
            armed = armed[1]
        ranks: list[tuple[int, int]] = []
        entry: Any = state.entry
        self._add_rank(ranks, rounds, entry, position_of(entry), state.continuation[2])
        for continuation in callers(state.continuation):
            site = continuation[1]
            self._add_rank(ranks, rounds, site, site.position, continuation[0][2])
        ranks.reverse()
        return tuple(ranks)

    def _add_rank(
        self,
        ranks: list[tuple[int, int]],
        rounds: dict[tuple[int, int], int],
        site: Any,
        position: int,
        depth: int,
    ) -> None:
        """The rank in one frame, innermost loop first."""
        points = self.of(site.unit)
        ranks.append((points.ranks[site.block], position))
        if rounds:
            segments = site.unit.counters.segments
            ranks += [
                (points.ranks[header], rounds.get((segments[header, 0], depth), -1))
                for header in reversed(points.loops[site.block])
            ]


def position_of(entry: Any) -> int:
    """Where in its block a state is: before an edge to it is taken, at its begin or at an instruction."""
    if isinstance(entry, Target):
        return -1 if entry.key[0] == "block" else -2
    return getattr(entry, "position", -1)


def is_armed(armed: Cons, point: JoinPoint) -> bool:
    """Does a path stop there already?"""
    depth = point[1]
    while armed is not None and armed[0][1] >= depth:
        if armed[0][0] == point[0] and armed[0][1] == depth and (armed[0][2] < 0) == (point[2] < 0):
            return True
        armed = armed[1]
    return False


def progress(path: Path, before: int) -> int:
    """How far the path has read its input; never less than before, though a merge may forget decisions."""
    for index in reversed(path.slices):
        if index in ROUND_NUMBERS:
            continue
        if index <= before or path.slices[index].constraints:
            return max(index, before)
    return before


def stack_of(state: State) -> tuple[Any, ...]:
    """The entry and the call sites of all frames: only states that agree in them can be merged."""
    return (state.entry, *[continuation[1] for continuation in callers(state.continuation)])

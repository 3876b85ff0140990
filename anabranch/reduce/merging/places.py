"""Where paths that part come together again, and which place comes before which."""

from __future__ import annotations

from typing import Any

from anabranch.analysis.cfg import build_cfg, graph, reachable_from, reverse_edges
from anabranch.analysis.dominators import post_dominators
from anabranch.analysis.loops import LoopForest, find_loops
from anabranch.analysis.order import topological_order
from anabranch.ir.module import Function
from anabranch.machine.state import Continuation, State

Rank = tuple[tuple[int, int], ...]
Stop = tuple[int, int, int]
"""A place where a path is to wait: counter of the block, depth of the frame, and at the header of a loop how
far into its input the path had looked when it was last there; elsewhere -1."""


class FunctionPlaces:
    """Join points and ranks of the blocks of one function."""

    __slots__ = ("headers", "joins", "loops", "ranks", "rounds")

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
        self.rounds = [
            [h for h in around[block] if joined == h or joined not in loops.loops[h].blocks]
            for block, joined in enumerate(self.joins)
        ]
        """Headers of those that the paths from a block may go round before they meet at its join point."""


def headers_around(loops: LoopForest, block: int) -> list[int]:
    headers = []
    header = loops.innermost[block]
    while header >= 0:
        headers.append(header)
        header = loops.loops[header].parent
    return headers[::-1]


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


class Places:
    """Join points and order of places for a whole program; functions are looked at when first met."""

    def __init__(self) -> None:
        self._functions: dict[str, FunctionPlaces] = {}

    def of(self, unit: Any) -> FunctionPlaces:
        found = self._functions.get(unit.function.name)
        if found is None:
            found = self._functions[unit.function.name] = FunctionPlaces(unit.function)
        return found

    def meeting_points(self, unit: Any, block: int, continuation: Continuation) -> list[Stop]:
        """Where the paths that part in a block meet again, the nearest last.

        If that is the return of the function, it is where the paths of the caller meet after the call. Paths
        that go round a loop before may meet at its header, one that took few rounds with one that took many.
        """
        found: list[Stop] = []
        while True:
            places, depth = self.of(unit), continuation[2]
            segments = unit.counters.segments
            rounds: list[Stop] = [(segments[h, 0], depth, 0) for h in reversed(places.rounds[block])]
            joined = places.joins[block]
            if joined >= 0:
                stop = (segments[joined, 0], depth, -1)
                found += [stop, *rounds] if joined in places.rounds[block] else [*rounds, stop]
                break
            found += rounds
            site = continuation[1]
            if site is None:
                break
            unit, block, continuation = site.unit, site.block, continuation[0]
        return found[::-1]

    def rank(self, state: State) -> Rank:
        """Sorts states topologically: those that can still come to where others are come first.

        In a loop, that is those with the least progress when they last came to a header.
        """
        rounds: dict[tuple[int, int], int] = {}
        stops = state.stops
        while stops is not None:
            number, depth, progress = stops[0]
            if progress >= 0:
                rounds[number, depth] = progress
            stops = stops[1]
        ranks: list[tuple[int, int]] = []
        entry: Any = state.entry
        self._add_rank(ranks, rounds, entry, getattr(entry, "position", -1), state.continuation[2])
        continuation = state.continuation
        while continuation[1] is not None:
            site = continuation[1]
            continuation = continuation[0]
            self._add_rank(ranks, rounds, site, site.position, continuation[2])
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
        places = self.of(site.unit)
        ranks.append((places.ranks[site.block], position))
        if rounds:
            segments = site.unit.counters.segments
            ranks += [
                (places.ranks[header], rounds.get((segments[header, 0], depth), -1))
                for header in reversed(places.loops[site.block])
            ]


def stack_of(state: State) -> tuple[Any, ...]:
    """The entry and the call sites of all frames: only states that agree in them can be joined."""
    sites = [state.entry]
    continuation = state.continuation
    while continuation[1] is not None:
        sites.append(continuation[1])
        continuation = continuation[0]
    return tuple(sites)

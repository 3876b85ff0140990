"""Where paths that part come together again, and which place comes before which."""

from __future__ import annotations

from typing import Any

from anabranch.analysis.cfg import build_cfg, graph, reachable_from, reverse_edges
from anabranch.analysis.dominators import post_dominators
from anabranch.analysis.order import topological_order
from anabranch.ir.module import Function
from anabranch.machine.state import Continuation, State

Rank = tuple[tuple[int, int], ...]


class FunctionPlaces:
    """Join points and ranks of the blocks of one function."""

    __slots__ = ("joins", "ranks")

    def __init__(self, function: Function) -> None:
        cfg = build_cfg(function)
        self.ranks = [len(function.blocks)] * len(function.blocks)
        for rank, block in enumerate(topological_order(cfg)):
            self.ranks[block] = rank
        self.joins = join_blocks(function)


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

    def join_point(self, unit: Any, block: int, continuation: Continuation) -> tuple[int, int] | None:
        """`(counter, depth of the frame)` where the paths that part in a block meet again.

        If that is the return of the function, it is where the paths of the caller meet after the call.
        """
        while True:
            joined = self.of(unit).joins[block]
            if joined >= 0:
                return unit.counters.segments[joined, 0], continuation[2]
            site = continuation[1]
            if site is None:
                return None
            unit, block, continuation = site.unit, site.block, continuation[0]

    def rank(self, state: State) -> Rank:
        """Sorts states topologically: those that can still come to where others are come first."""
        ranks = []
        continuation = state.continuation
        while continuation[1] is not None:
            site = continuation[1]
            ranks.append((self.of(site.unit).ranks[site.block], site.position))
            continuation = continuation[0]
        ranks.reverse()
        entry: Any = state.entry
        ranks.append((self.of(entry.unit).ranks[entry.block], getattr(entry, "position", -1)))
        return tuple(ranks)


def stack_of(state: State) -> tuple[Any, ...]:
    """The entry and the call sites of all frames: only states that agree in them can be joined."""
    sites = [state.entry]
    continuation = state.continuation
    while continuation[1] is not None:
        sites.append(continuation[1])
        continuation = continuation[0]
    return tuple(sites)

"""Minimum distance in instructions from every block to a set of target blocks, through calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush

from anabranch.analysis.callgraph import CallGraph, CallSite
from anabranch.analysis.cfg import block_successors

INFINITE = 1 << 60
"""Distance where there is no way; sums of a few stay comparable."""


class DistanceGraph:
    """Built once a program; `to_targets` is then one shortest-path search backward from the targets.

    Passing a call costs the callee's shortest way to a return (a declared function: one instruction; one that
    never returns: no way). Entering a call costs the instructions up to it. What follows a return to the
    caller is not part of a block's distance: add `to_return` and the distance at the place of return.
    """

    __slots__ = ("_back", "_base", "_cost", "graph", "to_return")

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        functions = graph.module.functions
        self._base: dict[str, int] = {}
        total = 0
        for name in graph.sites:
            self._base[name] = total
            total += len(functions[name].blocks)
        self.to_return: dict[str, list[int]] = {}
        """Function -> distance from the start of each block to a return of the function."""
        self._cost = [INFINITE] * total
        self._solve_returns()
        self._back: list[list[tuple[int, int]]] = [[] for _ in range(total)]
        self._connect()

    def return_distance(self, function: str) -> int:
        """Shortest way from the entry to a return."""
        if function in self.to_return:
            return self.to_return[function][0]
        declared = self.graph.module.functions.get(function)
        return INFINITE if declared is not None and declared.noreturn else 1

    def to_targets(self, targets: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
        """Function -> distance from the start of each block to the nearest target block (0 at a target)."""
        distance = [INFINITE] * len(self._cost)
        queue: list[tuple[int, int]] = []
        for function, blocks in targets.items():
            if function in self._base:
                for block in blocks:
                    node = self._base[function] + block
                    distance[node] = 0
                    queue.append((0, node))
        _shortest(distance, queue, self._back)
        functions = self.graph.module.functions
        return {
            name: distance[base : base + len(functions[name].blocks)] for name, base in self._base.items()
        }

    def _solve_returns(self) -> None:
        """Shortest ways to a return, callees first as far as they go; repeated while an entry gets nearer."""
        pending = list(reversed(self._base))
        queued = set(pending)
        for name in pending:
            self.to_return[name] = [INFINITE] * len(self.graph.module.functions[name].blocks)
        while pending:
            name = pending.pop()
            queued.discard(name)
            before = self.to_return[name][0]
            self.to_return[name] = self._returns_of(name)
            if self.to_return[name][0] != before:
                for site in self.graph.callers.get(name, ()):
                    if site.caller not in queued:
                        queued.add(site.caller)
                        pending.append(site.caller)

    def _returns_of(self, name: str) -> list[int]:
        blocks = self.graph.module.functions[name].blocks
        base = self._base[name]
        for block in blocks:
            self._cost[base + block.index] = len(block.instructions)
        for site in self.graph.sites[name]:
            node = base + site.block
            self._cost[node] = min(INFINITE, self._cost[node] + self._pass_cost(site))
        back: list[list[tuple[int, int]]] = [[] for _ in blocks]
        distance = [INFINITE] * len(blocks)
        queue = []
        for block in blocks:
            cost = self._cost[base + block.index]
            if cost >= INFINITE:
                continue
            if block.instructions[-1].opcode == "ret":
                distance[block.index] = cost
                queue.append((cost, block.index))
            for target in block_successors(block):
                back[target].append((block.index, cost))
        _shortest(distance, queue, back)
        return distance

    def _pass_cost(self, site: CallSite) -> int:
        """Extra cost of a call that returns; one instruction if no callee is known."""
        return min(map(self.return_distance, site.callees), default=1)

    def _connect(self) -> None:
        for name, base in self._base.items():
            prefix_extra: dict[int, int] = {}
            for site in self.graph.sites[name]:
                extra = prefix_extra.get(site.block, 0)
                for callee in site.callees:
                    if callee in self._base and extra < INFINITE:
                        self._back[self._base[callee]].append((base + site.block, site.index + 1 + extra))
                prefix_extra[site.block] = min(INFINITE, extra + self._pass_cost(site))
            for block in self.graph.module.functions[name].blocks:
                cost = self._cost[base + block.index]
                if cost < INFINITE:
                    for target in block_successors(block):
                        self._back[base + target].append((base + block.index, cost))


def _shortest(distance: list[int], queue: list[tuple[int, int]], back: list[list[tuple[int, int]]]) -> None:
    """Dijkstra's algorithm along reversed edges, in place."""
    heapify(queue)
    while queue:
        near, node = heappop(queue)
        if near > distance[node]:
            continue
        for source, cost in back[node]:
            far = near + cost
            if far < distance[source]:
                distance[source] = far
                heappush(queue, (far, source))

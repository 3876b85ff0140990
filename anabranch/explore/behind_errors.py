"""Code that was not explored because paths ended in errors before they got there.

A path ends at its first error. What lies behind it, in the same function and behind the calls that led there,
may therefore have been seen by no path at all, also in a run that is complete: the run says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.analysis.callgraph import CallGraph, build_call_graph
from anabranch.explore.blocks import line_at
from anabranch.explore.coverage import BlockTable, Line
from anabranch.ir.module import Module
from anabranch.machine.location import Where
from anabranch.machine.state import callers
from anabranch.report.result import Unexplored

Point = tuple[str, int, int]
"""A function, the index of a block, the position of an instruction in it."""


class CutPaths:
    """Where paths ended in errors: the failing instructions, and the calls that they were inside of."""

    def __init__(self) -> None:
        self.points: set[Point] = set()

    def add(self, where: Where) -> None:
        self.points.add(where.key)
        for continuation in callers(where.continuation):
            site = continuation[1]
            self.points.add((site.unit.function.name, site.block, site.position))

    def unexplored(
        self, module: Module, entry: str, table: BlockTable, counters: Sequence[int]
    ) -> list[Unexplored]:
        """The user's functions with the lines that no path has run and that lie behind an error."""
        if not self.points:
            return []
        reached = Behind(module, build_call_graph(module, [entry])).points(self.points)
        covered = table.lines_covered(counters)
        found = []
        for function in table.user_functions():
            starts = reached.get(function.name)
            if starts is None:
                continue
            executed = table.executed(function, counters)
            behind = [
                (block, position)
                for block, start in starts.items()
                for position in range(start, len(function.blocks[block].instructions))
                if not executed(block, position)
            ]
            lines = {line for at in behind if (line := line_at(function, *at)) and line not in covered}
            if lines or (behind and function.subprogram is None):
                found.append(Unexplored(function.name, by_file(lines), not executed(0, 0)))
        return found


def by_file(lines: set[Line]) -> dict[str, tuple[int, ...]]:
    files: dict[str, list[int]] = {}
    for file, line in sorted(lines):
        files.setdefault(file, []).append(line)
    return {file: tuple(numbers) for file, numbers in files.items()}


class Behind:
    """What control can reach from some points on, by branches and calls."""

    def __init__(self, module: Module, graph: CallGraph) -> None:
        self.module = module
        self.graph = graph
        self._starts: dict[str, dict[int, int]] = {}
        self._pending: list[tuple[str, int]] = []

    def points(self, cut: set[Point]) -> dict[str, dict[int, int]]:
        """By function: the blocks that are reached, each with the first position reached in it."""
        for function, block, position in sorted(cut):
            self._reach(function, block, position + 1)
        while self._pending:
            function, block = self._pending.pop()
            start = self._starts[function][block]
            for target in self.module.functions[function].blocks[block].instructions[-1].targets:
                self._reach(function, target, 0)
            for site in self.graph.sites.get(function, ()):
                if site.block == block and site.index >= start:
                    for callee in site.callees:
                        if not self.module.functions[callee].is_declaration:
                            self._reach(callee, 0, 0)
        return self._starts

    def _reach(self, function: str, block: int, start: int) -> None:
        starts = self._starts.setdefault(function, {})
        if start < starts.get(block, 1 << 60):
            starts[block] = start
            self._pending.append((function, block))

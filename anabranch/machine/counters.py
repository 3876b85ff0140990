"""Execution counters as translated code sees them: one addition a straight run of instructions.

The numbers come from a table that also knows what they mean for coverage. A *segment* is a stretch of a
block that runs as a whole once it is entered; a path that ends inside one tells the table, so that the
lines behind that point do not count as covered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from anabranch.ir.module import Function


class NumberedFunction(Protocol):
    """The counter numbers of one function."""

    @property
    def block_numbers(self) -> range: ...

    @property
    def edge_numbers(self) -> Mapping[tuple[int, int], int | None]: ...

    @property
    def call_numbers(self) -> Mapping[tuple[int, int], int]: ...


class CounterTable(Protocol):
    """Gives numbers to functions that are about to be translated."""

    @property
    def size(self) -> int: ...

    def register(self, function: Function) -> NumberedFunction: ...

    def stopped(self, number: int, instruction: int) -> None: ...

    def instructions(self, number: int) -> int: ...


class FunctionCounters:
    """The counters of one function, by block and instruction."""

    __slots__ = ("_starts", "edges", "segments")

    def __init__(self, function: Function, numbers: NumberedFunction) -> None:
        self.segments: dict[tuple[int, int], int] = {}  # (block, first instruction) -> number
        self.edges: dict[tuple[int, int], int] = {}  # (block, target) -> number
        self._starts: list[list[int]] = []
        for block, number in zip(function.blocks, numbers.block_numbers, strict=True):
            self.segments[block.index, 0] = number
            self._starts.append([0])
        for (index, position), number in numbers.call_numbers.items():
            self.segments[index, position + 1] = number
            self._starts[index].append(position + 1)
        for (index, side), edge in numbers.edge_numbers.items():
            if edge is not None:
                self.edges[index, function.blocks[index].instructions[-1].targets[side]] = edge

    def covering(self, block: int, position: int) -> int:
        """The segment that an instruction belongs to."""
        return self.segments[block, max(start for start in self._starts[block] if start <= position)]


class Counters:
    """All counters of a run. `N` is the list that generated code adds to; its identity never changes."""

    def __init__(self, table: CounterTable) -> None:
        self.N: list[int] = []
        self.sizes: list[int] = []
        self.table = table
        self._functions: dict[str, FunctionCounters] = {}

    def register(self, function: Function) -> FunctionCounters:
        found = self._functions.get(function.name)
        if found is None:
            found = FunctionCounters(function, self.table.register(function))
            self._functions[function.name] = found
            for number in range(len(self.N), self.table.size):
                self.N.append(0)
                self.sizes.append(self.table.instructions(number))
        return found

    def cut(self, function: Function, block: int, position: int) -> None:
        """A path ended (or was given up) at this instruction and nothing goes on from it."""
        self.table.stopped(self._functions[function.name].covering(block, position), position)

    def instructions(self) -> int:
        """LLVM instructions executed so far."""
        return sum(map(int.__mul__, self.N, self.sizes))

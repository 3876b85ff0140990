"""The acyclic copy of a control flow graph that is executed symbolically.

A node is a block in one iteration of each loop around it. By default a small loop that runs a constant
number of times is there that often, and is exact. Any other is there twice: its first iteration as it is,
and one more that stands for all later ones, whose header takes unknown values for whatever the loop
changes. With `--unroll K` there are K iterations, and then the loop has ended (section 3.1.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.analysis.cfg import CFG, build_cfg, graph
from anabranch.analysis.dominators import DominatorTree, dominators, post_dominators
from anabranch.analysis.loops import Loop, LoopForest, find_loops
from anabranch.analysis.tripcount import trip_count
from anabranch.ir.module import Function

EXIT = -1
"""The block of the node that all returns lead to."""
DEAD = -2
"""The block of the node that edges lead to which are not followed: another iteration of a loop."""
NEVER: tuple[int, ...] = (-1,)
"""The iterations of an edge that no path takes."""
PEEL_DEPTH = 2
"""Loops nested deeper are there once only: copies multiply."""
MAX_COPIED = 4000
"""Instructions of a function with its copies; loops of larger ones are there once only."""
MAX_TRIPS = 16
MAX_UNROLLED = 320
"""Iterations, and instructions of them together, up to which a loop of a constant number is unrolled."""


@dataclass(frozen=True, slots=True)
class Node:
    block: int
    iterations: tuple[int, ...]
    """For each loop around the block, outermost first."""
    unknown_entry: bool = False
    """A header that stands for many iterations."""
    first_possible: bool = False
    """One of them may be the first, with the values from before the loop."""


@dataclass(frozen=True, slots=True)
class AcyclicGraph:
    nodes: tuple[Node, ...]
    cfg: CFG
    tree: DominatorTree
    post: DominatorTree
    exit: int
    dead: int
    targets: tuple[dict[int, int], ...]
    """For each node: block of a successor -> node."""
    loops: LoopForest
    irreducible: int
    """Edges that are not followed because they enter a loop elsewhere than at its head."""

    def predecessors(self, node: int) -> Sequence[int]:
        """All of them are reachable: nodes are made by following edges from the first."""
        return self.cfg.predecessors[node]

    def region(self, node: int) -> set[int]:
        """The nodes on ways from the immediate dominator to `node`, both excluded."""
        top = self.tree.parent[node]
        seen: set[int] = set()
        stack = list(self.predecessors(node))
        while stack:
            current = stack.pop()
            if current != top and current not in seen:
                seen.add(current)
                stack.extend(self.predecessors(current))
        return seen


class _Builder:
    def __init__(self, function: Function, unroll: int | None) -> None:
        self.function = function
        self.original = build_cfg(function)
        self.loops = find_loops(self.original)
        self.unroll = unroll
        self.back = {edge for loop in self.loops.loops.values() for edge in loop.back_edges}
        self.crossing = set(self.loops.irreducible)
        self.nests = [self._nest(block) for block in range(len(function.blocks))]
        self.trips: dict[int, int] = {}
        """Header -> iterations, of loops that are there as often as they run."""
        if unroll is None:
            self._count_trips()
        self.peel = self._copied_size() <= MAX_COPIED
        if not self.peel:
            self.trips = {}
        self.nodes: list[Node] = []
        self.index: dict[tuple[int, tuple[int, ...]], int] = {}
        self.successors: list[list[int]] = []
        self.pending: list[int] = []
        self.cut: set[int] = set()
        self.irreducible: set[tuple[int, int]] = set()

    def _nest(self, block: int) -> tuple[int, ...]:
        chain, header = [], self.loops.innermost[block]
        while header >= 0:
            chain.append(header)
            header = self.loops.loops[header].parent
        return tuple(reversed(chain))

    def _count_trips(self) -> None:
        """Inner loops first: what an outer one repeats has their copies."""
        blocks = self.function.blocks
        size = {header: 0 for header in self.loops.loops}
        for block in blocks:
            if self.nests[block.index]:
                size[self.nests[block.index][-1]] += len(block.instructions)
        for header, loop in reversed(self.loops.loops.items()):
            count = trip_count(self.function, self.original, loop, MAX_TRIPS + 1)
            small = count is not None and 0 < count <= MAX_TRIPS and count * size[header] <= MAX_UNROLLED
            if count is not None and small:
                self.trips[header] = count
            if loop.parent >= 0:
                size[loop.parent] += size[header] * (count if count is not None and small else 2)

    def _copied_size(self) -> int:
        total = 0
        for block in self.function.blocks:
            copies = 1
            for depth, header in enumerate(self.nests[block.index]):
                copies *= self.trips.get(header, 2 if depth < PEEL_DEPTH else 1)
            total += len(block.instructions) * copies
        return total

    def _last(self, header: int, depth: int) -> int:
        """The number of the last iteration of a loop at this depth of nesting."""
        if self.unroll is not None:
            return self.unroll
        if header in self.trips:
            return self.trips[header] - (not _left_at_head(self.loops.loops[header]))
        return 1 if self.peel and depth < PEEL_DEPTH else 0

    def build(self) -> AcyclicGraph:
        self._node(0, (0,) * len(self.nests[0]))
        while self.pending:
            self._follow(self.pending.pop())
        returns = [
            number
            for number, node in enumerate(self.nodes)
            if self.function.blocks[node.block].instructions[-1].opcode == "ret"
        ]
        exit_, dead = len(self.nodes), len(self.nodes) + 1
        self.nodes += [Node(EXIT, ()), Node(DEAD, ())]
        self.successors += [[], []]
        targets = tuple({self.nodes[s].block: s for s in after} for after in self.successors)
        for number in returns:
            self.successors[number].append(exit_)
        for number in self.cut:
            self.successors[number].append(dead)
        cfg = graph(self.successors)
        return AcyclicGraph(
            tuple(self.nodes),
            cfg,
            dominators(cfg),
            post_dominators(cfg),
            exit_,
            dead,
            targets,
            self.loops,
            len(self.irreducible),
        )

    def _node(self, block: int, iterations: tuple[int, ...]) -> int:
        key = (block, iterations)
        number = self.index.get(key)
        if number is None:
            number = self.index[key] = len(self.nodes)
            self.nodes.append(self._described(block, iterations))
            self.successors.append([])
            self.pending.append(number)
        return number

    def _described(self, block: int, iterations: tuple[int, ...]) -> Node:
        nest = self.nests[block]
        heads = bool(nest) and nest[-1] == block
        if self.unroll is not None or not heads or block in self.trips:
            return Node(block, iterations)
        last = self._last(block, len(nest) - 1)
        return Node(block, iterations, iterations[-1] == last, last == 0)

    def _follow(self, number: int) -> None:
        node = self.nodes[number]
        for target in self.original.successors[node.block]:
            if (node.block, target) in self.crossing:
                self.irreducible.add((node.block, target))
                self.cut.add(number)
                continue
            iterations = self._iterations(node, target)
            if iterations is None:
                self.cut.add(number)
            elif iterations is not NEVER:
                self.successors[number].append(self._node(target, iterations))

    def _iterations(self, node: Node, target: int) -> tuple[int, ...] | None:
        """The iterations that an edge leads to; None if it is not followed, NEVER if no path takes it."""
        mine, theirs = self.nests[node.block], self.nests[target]
        result = []
        for depth, header in enumerate(theirs):
            if depth >= len(mine) or mine[depth] != header:
                result.append(0)
                continue
            iteration = node.iterations[depth]
            if header == target and (node.block, target) in self.back:
                iteration += 1
                if iteration > self._last(header, depth):
                    return NEVER if header in self.trips else None
            elif self._only_tests(node, depth, header):
                return NEVER if header in self.trips else None
            result.append(iteration)
        return tuple(result)

    def _only_tests(self, node: Node, depth: int, header: int) -> bool:
        """Of the last copy of an unrolled loop that is left at its head only the test is there."""
        unrolled = self.unroll is not None or header in self.trips
        return (
            unrolled
            and node.block == header
            and node.iterations[depth] == self._last(header, depth)
            and _left_at_head(self.loops.loops[header])
        )


def _left_at_head(loop: Loop) -> bool:
    return any(source == loop.header for source, _ in loop.exits)


def acyclic_graph(function: Function, unroll: int | None = None) -> AcyclicGraph:
    return _Builder(function, unroll).build()

"""The acyclic copy of a control flow graph that is executed symbolically.

A node is a block in one iteration of each loop around it. By default a loop is there twice: its first
iteration as it is, and one more that stands for all later ones, whose header takes unknown values for
whatever the loop changes. With `--unroll K` there are K iterations, and then the loop has ended (section
3.1.3).
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.cfg import CFG, build_cfg, graph
from anabranch.analysis.dominators import DominatorTree, dominators, post_dominators
from anabranch.analysis.loops import LoopForest, find_loops
from anabranch.ir.module import Function

EXIT = -1
"""The block of the node that all returns lead to."""
DEAD = -2
"""The block of the node that edges lead to which are not followed: another iteration of a loop."""
PEEL_DEPTH = 2
"""Loops nested deeper are there once only: copies multiply."""
MAX_COPIED = 4000
"""Instructions of a function with its copies; loops of larger ones are there once only."""


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

    def predecessors(self, node: int) -> list[int]:
        return [p for p in self.cfg.predecessors[node] if self.cfg.reachable(p)]

    def region(self, node: int) -> set[int]:
        """The nodes on ways from the immediate dominator to `node`, both excluded."""
        top = self.tree.parent[node]
        seen: set[int] = set()
        stack = self.predecessors(node)
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
        self.peel = self._copied_size() <= MAX_COPIED
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

    def _copied_size(self) -> int:
        return sum(
            len(block.instructions) << min(len(self.nests[block.index]), PEEL_DEPTH)
            for block in self.function.blocks
        )

    def _last(self, depth: int) -> int:
        """The number of the last iteration of a loop at this depth of nesting."""
        if self.unroll is not None:
            return self.unroll
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
        if self.unroll is not None or not heads:
            return Node(block, iterations)
        last = self._last(len(nest) - 1)
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
            else:
                self.successors[number].append(self._node(target, iterations))

    def _iterations(self, node: Node, target: int) -> tuple[int, ...] | None:
        """The iterations that an edge leads to; None if it is not followed."""
        mine, theirs = self.nests[node.block], self.nests[target]
        result = []
        for depth, header in enumerate(theirs):
            if depth >= len(mine) or mine[depth] != header:
                result.append(0)
                continue
            iteration = node.iterations[depth]
            if header == target and (node.block, target) in self.back:
                iteration += 1
                if iteration > self._last(depth):
                    return None
            elif self._only_tests(node, depth, header):
                return None
            result.append(iteration)
        return tuple(result)

    def _only_tests(self, node: Node, depth: int, header: int) -> bool:
        """With --unroll, of the last copy of a loop that is left at its head only the test is there."""
        return (
            self.unroll is not None
            and node.block == header
            and node.iterations[depth] == self.unroll
            and any(source == header for source, _ in self.loops.loops[header].exits)
        )


def acyclic_graph(function: Function, unroll: int | None = None) -> AcyclicGraph:
    return _Builder(function, unroll).build()

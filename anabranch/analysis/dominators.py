"""Dominators and post-dominators, after Cooper, Harvey and Kennedy: intersections along the tree."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.cfg import CFG, Edges, reachable_from, reverse_edges, reverse_postorder


@dataclass(frozen=True, slots=True)
class DominatorTree:
    """`parent[b]` is the immediate dominator of b; -1 for the root and for nodes outside the tree."""

    root: int
    parent: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    _enter: tuple[int, ...]
    _leave: tuple[int, ...]

    def contains(self, node: int) -> bool:
        return self._enter[node] >= 0

    def dominates(self, upper: int, lower: int) -> bool:
        """Is `upper` on every path from the root to `lower` (itself included)?"""
        return (
            self._enter[upper] >= 0
            and self._enter[upper] <= self._enter[lower]
            and self._leave[lower] <= self._leave[upper]
        )

    def common(self, a: int, b: int) -> int:
        """The lowest node that dominates both; -1 if one is outside the tree."""
        if not (self.contains(a) and self.contains(b)):
            return -1
        while not self.dominates(a, b):
            a = self.parent[a]
        return a


def dominators(cfg: CFG) -> DominatorTree:
    return _tree(0, cfg.predecessors, list(cfg.order))


def post_dominators(cfg: CFG) -> DominatorTree:
    """Over the reachable blocks and one virtual exit, numbered `len(blocks)`, the root.

    Blocks without successors lead to the exit. A region that never leaves (an endless loop) is given one edge
    to the exit from its last block in reverse postorder, so that every reachable block is in the tree.
    """
    exit_node = len(cfg.successors)
    forward = [list(targets) if cfg.reachable(b) else [] for b, targets in enumerate(cfg.successors)]
    forward.append([])
    for block in leaving_blocks(cfg):
        forward[block].append(exit_node)
    reverse = reverse_edges(forward)
    return _tree(exit_node, forward, reverse_postorder(reverse, exit_node))


def leaving_blocks(cfg: CFG) -> list[int]:
    """Reachable blocks that post-dominators give an edge to the exit: those without successors, and the
    last block of every region that never leaves."""
    leaving = [block for block in cfg.order if not cfg.successors[block]]
    backward = [[p for p in sources if cfg.reachable(p)] for sources in cfg.predecessors]
    done = reachable_from(backward, leaving)
    for block in reversed(cfg.order):
        if block not in done:
            leaving.append(block)
            done |= reachable_from(backward, [block])
    return leaving


def _tree(root: int, predecessors: Edges, order: list[int]) -> DominatorTree:
    size = len(predecessors)
    number = [-1] * size
    for position, node in enumerate(order):
        number[node] = position
    parent = _immediate_dominators(root, predecessors, order, number)
    children: list[list[int]] = [[] for _ in range(size)]
    for node in order:
        if node != root:
            children[parent[node]].append(node)
    enter, leave = _intervals(root, children)
    return DominatorTree(root, tuple(parent), tuple(map(tuple, children)), tuple(enter), tuple(leave))


def _immediate_dominators(root: int, predecessors: Edges, order: list[int], number: list[int]) -> list[int]:
    parent = [-1] * len(predecessors)
    if not order:
        return parent
    parent[root] = root
    changed = True
    while changed:
        changed = False
        for node in order:
            if node == root:
                continue
            best = -1
            for source in predecessors[node]:
                if parent[source] < 0:
                    continue
                if best < 0:
                    best = source
                    continue
                other = source
                while best != other:
                    while number[other] > number[best]:
                        other = parent[other]
                    while number[best] > number[other]:
                        best = parent[best]
            if parent[node] != best:
                parent[node] = best
                changed = True
    parent[root] = -1
    return parent


def _intervals(root: int, children: list[list[int]]) -> tuple[list[int], list[int]]:
    """Numbers of entering and leaving each node in a walk of the tree: nesting is then two comparisons."""
    enter, leave = [-1] * len(children), [-1] * len(children)
    if not children:
        return enter, leave
    clock = 0
    stack = [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            leave[node] = clock
        else:
            enter[node] = clock
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children[node]))
        clock += 1
    return enter, leave

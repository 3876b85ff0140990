"""Natural loops: back edges whose target dominates their source, with nesting."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.cfg import CFG
from anabranch.analysis.dominators import DominatorTree, dominators


@dataclass(frozen=True, slots=True)
class Loop:
    """All loops with one header, as one; `parent` is the header of the loop around it, -1 for none."""

    header: int
    blocks: frozenset[int]
    back_edges: tuple[tuple[int, int], ...]
    exits: tuple[tuple[int, int], ...]
    """Edges from inside to outside."""
    parent: int
    depth: int
    """1 for an outermost loop."""


@dataclass(frozen=True, slots=True)
class LoopForest:
    loops: dict[int, Loop]
    """By header, outer loops before inner ones."""
    depth: tuple[int, ...]
    """Number of loops around each block."""
    innermost: tuple[int, ...]
    """Header of the innermost loop around each block, -1 for none."""
    irreducible: tuple[tuple[int, int], ...]
    """Retreating edges that enter a cycle elsewhere than at a dominating header (goto into a loop)."""


def find_loops(cfg: CFG, tree: DominatorTree | None = None) -> LoopForest:
    tree = tree or dominators(cfg)
    back_edges: dict[int, list[tuple[int, int]]] = {}
    irreducible: list[tuple[int, int]] = []
    for source in cfg.order:
        for target in cfg.successors[source]:
            if tree.dominates(target, source):
                back_edges.setdefault(target, []).append((source, target))
            elif cfg.number[target] <= cfg.number[source]:
                irreducible.append((source, target))
    innermost = [-1] * len(cfg.successors)
    depth = [0] * len(cfg.successors)
    loops: dict[int, Loop] = {}
    # Reverse postorder of the headers puts outer loops first, so that inner ones overwrite `innermost`.
    for header in sorted(back_edges, key=cfg.number.__getitem__):
        blocks = _body(cfg, header, back_edges[header])
        parent = innermost[header]
        nesting = loops[parent].depth + 1 if parent >= 0 else 1
        exits = tuple((b, s) for b in sorted(blocks) for s in cfg.successors[b] if s not in blocks)
        loops[header] = Loop(header, blocks, tuple(back_edges[header]), exits, parent, nesting)
        for block in blocks:
            innermost[block] = header
            depth[block] = nesting
    return LoopForest(loops, tuple(depth), tuple(innermost), tuple(irreducible))


def _body(cfg: CFG, header: int, back_edges: list[tuple[int, int]]) -> frozenset[int]:
    """The header and all blocks that reach a back edge without passing it."""
    blocks = {header}
    stack = [source for source, _ in back_edges]
    while stack:
        block = stack.pop()
        if block not in blocks:
            blocks.add(block)
            stack.extend(p for p in cfg.predecessors[block] if cfg.reachable(p))
    return frozenset(blocks)

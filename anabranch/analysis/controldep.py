"""Control dependence (Ferrante, Ottenstein and Warren): which branches decide whether a block runs."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.cfg import CFG
from anabranch.analysis.dominators import DominatorTree, post_dominators


@dataclass(frozen=True, slots=True)
class ControlDependence:
    """Both maps are by block; an edge is (branching block, successor taken)."""

    controllers: tuple[frozenset[tuple[int, int]], ...]
    """Edges that, once taken, make the block certain to run."""
    controlled: tuple[frozenset[int], ...]
    """Blocks that a branch in this block decides about."""


def control_dependence(cfg: CFG, tree: DominatorTree | None = None) -> ControlDependence:
    tree = tree or post_dominators(cfg)
    controllers: list[set[tuple[int, int]]] = [set() for _ in cfg.successors]
    controlled: list[set[int]] = [set() for _ in cfg.successors]
    for source in cfg.order:
        if len(cfg.successors[source]) < 2:
            continue
        stop = tree.parent[source]
        for target in cfg.successors[source]:
            block = target
            while block not in (stop, tree.root, -1):
                controllers[block].add((source, target))
                controlled[source].add(block)
                block = tree.parent[block]
    return ControlDependence(tuple(map(frozenset, controllers)), tuple(map(frozenset, controlled)))

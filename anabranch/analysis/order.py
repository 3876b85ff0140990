"""Topological order of blocks in which a loop's blocks all come before what follows the loop."""

from __future__ import annotations

from anabranch.analysis.cfg import CFG, reverse_postorder
from anabranch.analysis.loops import find_loops


def topological_order(cfg: CFG) -> list[int]:
    """Reachable blocks; back edges aside, every block comes after its predecessors.

    In a reverse postorder the successor that is visited first comes last: ways out of a loop are visited
    before ways that stay in it.
    """
    depth = find_loops(cfg).depth
    outward = [sorted(targets, key=depth.__getitem__) for targets in cfg.successors]
    return reverse_postorder(outward)

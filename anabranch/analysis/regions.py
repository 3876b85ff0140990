"""Control regions: what the branches of a function decide about, leaving halts aside.

An ordinary post-dominator tree makes `if (bad) usage();` control everything behind it, because `usage` may
end the program. Here blocks that can only end the program (or loop forever) are taken out before
post-dominators are made. What branches decide about the blocks taken out is read off the whole graph. Who
uses this must treat an end of the program in a region as a dependence of its own: the branch that leads to
it decides about everything that could have come behind.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.bits import mask_of, ones_of
from anabranch.analysis.cfg import CFG, block_successors, graph
from anabranch.analysis.components import strong_components
from anabranch.analysis.controldep import control_dependence
from anabranch.analysis.dominators import DominatorTree, leaving_blocks, post_dominators
from anabranch.analysis.returning import Returning, may_return
from anabranch.ir.module import Function


@dataclass(frozen=True, slots=True)
class ControlRegions:
    """Tuples are by block; a mask has bit b for block b."""

    controlled: tuple[int, ...]
    """Mask of the blocks that this block's branch decides about directly; 0 if it has one successor."""
    closure: tuple[int, ...]
    """The same, transitively: also what the branches among those blocks decide about."""
    between: tuple[int, ...]
    """Blocks that may run between the branch and its end, and from which the end is reached: the closure
    without halts, unless the branch itself can only end the program."""
    end: tuple[int, ...]
    """The immediate post-dominator, where all ways of a branch have come together again; `exit` if there is
    none in the function, -1 for unreachable blocks."""
    halting: int
    """Mask of the blocks from which the function cannot return. 0 if it can return from nowhere at all:
    such a function is taken as it is."""
    exit: int
    """Number of the virtual block behind all returns: the number of blocks."""

    def controllers(self, mask: int) -> int:
        """Branches that decide, directly or not, about one of the blocks in a mask."""
        return sum(1 << block for block, closed in enumerate(self.closure) if closed & mask)


def control_regions(function: Function, returning: Returning | None = None) -> ControlRegions:
    """Regions of a defined function. Without `returning` only `unreachable` ends the program."""
    blocks = function.blocks
    if returning is None:
        ends = [block.instructions[-1].opcode == "unreachable" for block in blocks]
    else:
        ends = [returning.ends(function, block) for block in blocks]
    live = may_return(function, ends)
    if 0 not in live:
        live = set(range(len(blocks)))
    # Nothing runs behind a call that does not come back, so its block has no successors.
    successors = [() if ends[block.index] else block_successors(block) for block in blocks]
    return _regions(graph(successors), live)


def _regions(whole: CFG, live: set[int]) -> ControlRegions:
    count = len(whole.successors)
    everything = (1 << count) - 1
    halting = everything & ~mask_of(live)
    kept = graph(
        [[t for t in targets if t in live] if b in live else () for b, targets in enumerate(whole.successors)]
    )
    tree = post_dominators(kept)
    controlled = _controlled(kept, tree)
    end = list(tree.parent[:count])
    if halting:
        whole_tree = post_dominators(whole)
        for block, mask in enumerate(_controlled(whole, whole_tree)):
            controlled[block] |= mask & halting
            if halting >> block & 1:
                end[block] = whole_tree.parent[block]
    closure = _closure(controlled)
    between = [mask if halting >> block & 1 else mask & ~halting for block, mask in enumerate(closure)]
    return ControlRegions(tuple(controlled), tuple(closure), tuple(between), tuple(end), halting, count)


def _controlled(cfg: CFG, tree: DominatorTree) -> list[int]:
    masks = [mask_of(blocks) for blocks in control_dependence(cfg, tree).controlled]
    # The edge to the exit that an endless loop is given makes a branch of a block that has none. What that
    # branch would decide about is decided by the branches above it.
    for block in leaving_blocks(cfg):
        if len(cfg.successors[block]) == 1:
            behind, target = 0, cfg.successors[block][0]
            while target != tree.root:
                behind |= 1 << target
                target = tree.parent[target]
            masks = [mask | behind if mask >> block & 1 else mask for mask in masks]
    return masks


def _closure(controlled: list[int]) -> list[int]:
    """Members of a cycle decide about the same blocks, so one mask is calculated for each component."""
    closure = [0] * len(controlled)
    for members in strong_components([ones_of(mask) for mask in controlled]):
        mask = 0
        for member in members:
            mask |= controlled[member]
            for block in ones_of(controlled[member]):
                mask |= closure[block]
        for member in members:
            closure[member] = mask
    return closure

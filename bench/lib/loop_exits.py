"""A plugin for `anabranch run`: `--merge exits` merges states where they have left a loop, and nowhere else.

This is the mode CFG of "State Merging with Quantifiers in Symbolic Execution" (ESEC/FSE 2023): states by the
location at which they leave a loop, conditions joined by disjunctions and values by choices.
"""

from __future__ import annotations

from collections.abc import Hashable

from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.loops import find_loops
from anabranch.ir.module import Function
from anabranch.machine import State
from anabranch.machine.translator.sites import Target
from anabranch.plugin import merge_policy
from anabranch.reduce.merging.join_points import join_blocks, loop_exit, stack_of
from anabranch.reduce.merging.policies import PolicyContext


@merge_policy("exits", help="where they have left a loop")
class LoopExits:
    """All states at the exit of a loop are similar, no others."""

    def __init__(self, context: PolicyContext) -> None:
        self._exits: dict[str, frozenset[int]] = {}

    def key(self, state: State) -> Hashable:
        entry = state.entry
        if not isinstance(entry, Target):
            return None
        function = entry.unit.function
        exits = self._exits.get(function.name)
        if exits is None:
            exits = self._exits[function.name] = exits_of(function)
        return stack_of(state) if entry.block in exits else None

    def similar(self, a: State, b: State) -> bool:
        return True


def exits_of(function: Function) -> frozenset[int]:
    """The blocks where paths that left a loop meet."""
    joins = join_blocks(function)
    return frozenset(loop_exit(loop, joins) for loop in find_loops(build_cfg(function)).loops.values()) - {-1}

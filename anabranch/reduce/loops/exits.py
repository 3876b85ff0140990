"""Where states that left a loop are held until all have left it."""

from __future__ import annotations

from typing import Any

from anabranch.analysis.cfg import build_cfg, reachable_from
from anabranch.analysis.loops import find_loops
from anabranch.analysis.steering import steering_locals
from anabranch.ir.module import Function
from anabranch.machine import State
from anabranch.machine.translator.sites import Target
from anabranch.reduce.merging.join_points import join_blocks, loop_exit


class Exits:
    """The exits of the loops of a program; functions are analysed when first met."""

    def __init__(self) -> None:
        self._functions: dict[str, dict[int, frozenset[int]]] = {}
        self._known: dict[Target, bool] = {}

    def holds(self, state: State) -> bool:
        """Is a state where the paths that left a loop meet, and to become one with them?

        Values that steer a later loop of the function are kept apart: there, paths at one position of the
        input meet, whichever way they came.
        """
        entry: Any = state.entry
        if not isinstance(entry, Target):
            return False
        found = self._known.get(entry)
        if found is None:
            function = entry.unit.function
            exits = self._functions.get(function.name)
            if exits is None:
                exits = self._functions[function.name] = loop_exits(function)
            steering = exits.get(entry.block)
            live = {int(name[1:]) for name in entry.names if name not in ("D", "va")}
            found = self._known[entry] = steering is not None and steering.isdisjoint(live)
        return found


def loop_exits(function: Function) -> dict[int, frozenset[int]]:
    """The blocks where paths that left a loop meet, each with the locals made in loops that steer a loop
    which is still to come from there on."""
    cfg = build_cfg(function)
    loops = find_loops(cfg)
    joins = join_blocks(function)
    made = {
        instruction.result.index
        for block in function.blocks
        if loops.innermost[block.index] >= 0
        for instruction in block.instructions
        if instruction.result is not None
    }
    found: dict[int, frozenset[int]] = {}
    for loop in loops.loops.values():
        block = loop_exit(loop, joins)
        if block >= 0 and block not in found:
            ahead = reachable_from(cfg.successors, [block])
            found[block] = steering_locals(function, [b for b in ahead if loops.innermost[b] >= 0]) & made
    return found

"""Where the states of a loop meet: inside it by what steers it, behind it all at once.

Loops in which several values steer that do not go in step are left out, with all loops around and in them
(`in[i]` is decoded to `out[o]`): states that agree in one of these values differ in the others, so that there
would be as many states as there are pairs of values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from anabranch.analysis.cfg import build_cfg, reachable_from
from anabranch.analysis.induction import independent
from anabranch.analysis.loops import Loop, find_loops
from anabranch.analysis.steering import Steering
from anabranch.ir.module import Function
from anabranch.ir.values import Local
from anabranch.machine import State
from anabranch.machine.translator.sites import Target
from anabranch.reduce.merging.join_points import join_blocks, loop_exit


class Location(NamedTuple):
    """What is known of where a state waits."""

    held: bool
    """Do the paths that left a loop meet here, to become one?"""
    steering: tuple[int, ...]
    """Positions of the live values that steer a loop around it or, at an exit, one that is still to come:
    paths meet where these agree, at one position of the input, whichever way they came."""
    inside: bool
    """Is it in a loop that these values steer?"""


def computed_in(function: Function, blocks: Iterable[int], least: int = 2) -> frozenset[int]:
    """The locals of at least some bits that are computed in some blocks, not those that are loaded or
    returned."""
    return frozenset(
        made.index
        for block in blocks
        for instruction in function.blocks[block].instructions
        if instruction.opcode in COMPUTING
        and (made := instruction.result) is not None
        and made.type.bits >= least
    )


def computed_from(function: Function, made: frozenset[int]) -> frozenset[int]:
    """Some locals, and all that is computed from them: a position, and where it is after an optional sign."""
    found, before = set(made), 0
    while len(found) > before:
        before = len(found)
        found.update(
            result.index
            for block in function.blocks
            for instruction in block.instructions
            if instruction.opcode in COMPUTING
            and (result := instruction.result) is not None
            and result.type.bits > 1
            and any(isinstance(operand, Local) and operand.index in found for operand in instruction.operands)
        )
    return frozenset(found)


COMPUTING = frozenset(("phi", "select", "add", "sub", "mul", "getelementptr", "zext", "sext", "trunc"))
NOWHERE = Location(False, (), False)
NOT_YET = Location(False, (), False)
"""Of a state that is about to go to an exit, by the edge that it left the loop by."""


class Loops:
    """The loops of a program, as states meet them; functions are analysed when first met."""

    def __init__(self, truths: bool = False) -> None:
        """`truths`: do truth values count among what steers a loop? Then each way to leave it is a state of
        its own."""
        self._truths = truths
        self._functions: dict[str, FunctionLoops] = {}
        self._known: dict[Target, Location] = {}

    def location(self, state: State) -> Location:
        entry: Any = state.entry
        if not isinstance(entry, Target):
            return NOWHERE
        found = self._known.get(entry)
        if found is None:
            function = entry.unit.function
            loops = self._functions.get(function.name)
            if loops is None:
                loops = self._functions[function.name] = FunctionLoops(function, self._truths)
            found = self._known[entry] = loops.location(entry)
        return found


class FunctionLoops:
    """The loops of one function."""

    def __init__(self, function: Function, truths: bool) -> None:
        self._least = 1 if truths else 2  # width of the values that count
        cfg = build_cfg(function)
        self._function = function
        self._forest = loops = find_loops(cfg)
        self._slices = Steering(function)
        self._steering: dict[int, frozenset[int]] = {}  # of a loop, by its header
        self._left_out = self._many_positions()
        joins = join_blocks(function)
        made = self._made_in(block for block, header in enumerate(loops.innermost) if header >= 0)
        made = computed_from(function, made)
        self._exits: dict[int, frozenset[int]] = {}
        """Blocks where paths that left a loop meet, each with the locals made in loops that steer a loop
        which is still to come."""
        for loop in loops.loops.values():
            if loop.header in self._left_out:
                continue
            block = loop_exit(loop, joins)
            blocks = [block]
            if loop.parent < 0 and block >= 0:
                blocks.append(joins[block])
            for block in blocks:
                if block < 0 or block in self._exits:
                    continue
                ahead = reachable_from(cfg.successors, [block])
                later = [loops.loops[header] for header in ahead if header in loops.loops]
                self._exits[block] = self._slices.of(later, ahead, exits=False) & made

    def _made_in(self, blocks: Iterable[int]) -> frozenset[int]:
        return computed_in(self._function, blocks, self._least)

    def location(self, entry: Target) -> Location:
        block = entry.block
        later = self._exits.get(block)
        if later is not None and entry.key[0] != "block":
            return NOT_YET
        steering = self._around(block) if later is None else later
        columns = tuple(
            position
            for position, name in enumerate(entry.names)
            if name not in ("D", "va") and int(name[1:]) in steering
        )
        return Location(later is not None and not columns, columns, later is None and bool(columns))

    def _around(self, block: int) -> frozenset[int]:
        """The locals that steer the loops around a block and change in them."""
        header = self._forest.innermost[block]
        found: frozenset[int] = frozenset()
        if header in self._left_out:
            return found
        while header >= 0:
            loop = self._forest.loops[header]
            found |= self._steers(loop)
            header = loop.parent
        return found

    def _steers(self, loop: Loop) -> frozenset[int]:
        """The locals that steer a loop and change in it."""
        found = self._steering.get(loop.header)
        if found is None:
            steering = self._slices.of((loop,), loop.blocks, exits=True)
            found = self._steering[loop.header] = steering & self._made_in(loop.blocks)
        return found

    def _many_positions(self) -> frozenset[int]:
        """The loops, with all around and in them, that several values steer independently of each other."""
        loops = self._forest.loops
        outermost = {header: header for header in loops}
        for header, loop in loops.items():  # outer loops come first
            if loop.parent >= 0:
                outermost[header] = outermost[loop.parent]
        found = {
            outermost[header]
            for header, loop in loops.items()
            if independent(self._function, loop, self._steers(loop)) > 1
        }
        return frozenset(header for header, outer in outermost.items() if outer in found)

"""The loops that can be summarised, as far as the code tells: no effects, no calls, a counter that steers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from anabranch.analysis.cfg import build_cfg, reachable_from
from anabranch.analysis.induction import Counter, loop_counters
from anabranch.analysis.loops import Loop, find_loops
from anabranch.analysis.steering import Steering
from anabranch.ir.module import Function
from anabranch.ir.types import IntType, PointerType
from anabranch.ir.values import Local
from anabranch.machine.translator.calls import IGNORED
from anabranch.machine.translator.plan import callee_name
from anabranch.reduce.loops.locations import computed_from, computed_in
from anabranch.semantics.operations import OPERATIONS


class Candidate(NamedTuple):
    """A loop that may be summarised."""

    loop: Loop
    phis: tuple[int, ...]
    """The locals that its header chooses."""
    steering: frozenset[int]
    """Those of them that decide where it reads, and when it is left."""
    counters: tuple[Counter, ...]
    """The counters among these."""


def candidates(function: Function) -> dict[int, Candidate]:
    """The loops of a function that may be summarised, by their header.

    Behind such a loop, its position is a function of the round in which it was left. So loops behind it that
    begin there have to be such loops, too: in any other, paths have to meet at one position each. That goes
    for a loop as well that begins there on some paths, and a byte further on others.
    """
    if not _goes_back(function):
        return {}
    cfg = build_cfg(function)
    loops = find_loops(cfg).loops
    found: dict[int, Candidate] = {}
    steering: Steering | None = None
    for loop in loops.values():
        followed = loop.parent < 0 and can_be_followed(function, loop)
        if followed and not begins_at_a_choice(function, loop, loops):
            steering = steering or Steering(function)
            candidate = _candidate(function, loop, steering)
            if candidate is not None:
                found[loop.header] = candidate
    while steering is not None:
        spoilt = [header for header, c in found.items() if _spoils(function, c.loop, loops, found, steering)]
        if not spoilt:
            break
        for header in spoilt:
            del found[header]
    return found


def _goes_back(function: Function) -> bool:
    """May there be a loop?"""
    return any(target <= b.index for b in function.blocks for target in b.instructions[-1].targets)


def can_be_followed(function: Function, loop: Loop) -> bool:
    """Does the body only compute, and read what nobody writes meanwhile?"""
    for block in loop.blocks:
        for instruction in function.blocks[block].instructions:
            opcode = instruction.opcode
            if opcode == "call":
                if not (callee_name(instruction) or "").startswith(IGNORED):
                    return False
            elif opcode == "load":
                if not isinstance(instruction.type, IntType | PointerType):
                    return False
            elif opcode not in OPERATIONS and opcode not in ("phi", "br", "switch"):
                return False
    return True


def begins_at_a_choice(function: Function, loop: Loop, loops: Mapping[int, Loop]) -> bool:
    """Does it begin at one of several values, as paths came by, that depend on how earlier loops ended?"""
    inside = {block for one in loops.values() for block in one.blocks}
    made = computed_from(function, computed_in(function, inside))
    chosen = frozenset(
        i.result.index
        for block in function.blocks
        if block.index not in inside
        for i in block.instructions
        if i.opcode == "phi"
        and i.result is not None
        and len({id(operand) for operand in i.operands}) > 1
        and any(isinstance(operand, Local) and operand.index in made for operand in i.operands)
    )
    begins = {
        operand.index
        for i in function.blocks[loop.header].instructions
        if i.opcode == "phi" and i.type.bits > 1
        for operand, source in zip(i.operands, i.targets, strict=True)
        if source not in loop.blocks and isinstance(operand, Local)
    }
    return not computed_from(function, chosen).isdisjoint(begins)


def _candidate(function: Function, loop: Loop, steering: Steering) -> Candidate | None:
    phis = tuple(
        i.result.index
        for i in function.blocks[loop.header].instructions
        if i.opcode == "phi" and i.result is not None
    )
    wide = {i for i in phis if _width(function, loop, i) > 1}
    steers = steering.of((loop,), loop.blocks, exits=True) & wide
    counters = tuple(c for c in loop_counters(function, loop) if c.local in steers)
    return Candidate(loop, phis, frozenset(steers), counters) if counters else None


def _width(function: Function, loop: Loop, local: int) -> int:
    for instruction in function.blocks[loop.header].instructions:
        if instruction.result is not None and instruction.result.index == local:
            return instruction.type.bits
    return 0


def _spoils(
    function: Function, loop: Loop, loops: dict[int, Loop], found: dict[int, Candidate], steering: Steering
) -> bool:
    """Would a loop behind it that cannot be summarised begin at a position of many?"""
    ahead = reachable_from(build_cfg(function).successors, [target for _, target in loop.exits])
    later = [one for header, one in loops.items() if header in ahead and header not in found]
    made = {
        i.result.index
        for block in loop.blocks
        for i in function.blocks[block].instructions
        if i.result is not None and i.type.bits > 1 and i.opcode not in ("load", "icmp")
    }
    return bool(later) and not made.isdisjoint(steering.of(later, ahead, exits=False))

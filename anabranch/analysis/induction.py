"""Header phis of loops: counters, which only go one way, and phis that move independently of each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from anabranch.analysis.loops import Loop
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import IntType, to_signed
from anabranch.ir.values import ConstInt, Local, Operand


class Counter(NamedTuple):
    """A phi that only grows from round to round (`sign` 1), or only shrinks (-1)."""

    local: int
    """Index of the local that the phi defines."""
    width: int
    sign: int


def loop_counters(function: Function, loop: Loop) -> list[Counter]:
    """The counters of a loop. Some rounds may leave one as it is (`if (c) count++`)."""
    inside = _defined_in(function, loop)
    counters = []
    for phi, again in _header_phis(function, loop):
        assert phi.result is not None
        steps: set[int] = set()
        counts = all(_collect_steps(value, phi.result.index, inside, steps) for value in again) and any(steps)
        if counts and (min(steps) >= 0 or max(steps) <= 0):
            type = phi.result.type
            width = type.width if isinstance(type, IntType) else 64
            counters.append(Counter(phi.result.index, width, 1 if max(steps) > 0 else -1))
    return counters


def independent(function: Function, loop: Loop, among: Collection[int]) -> int:
    """How many of some header phis a loop changes independently of each other.

    Those that every round changes by the same constant go in step, and count as one. Truth values do not
    count, nor does a phi that may be set to a value from outside the loop: it begins again, as what scans a
    set for each character.
    """
    inside = _defined_in(function, loop)
    in_step, others = False, 0
    for phi, again in _header_phis(function, loop):
        assert phi.result is not None
        index = phi.result.index
        if index not in among or phi.result.type.bits == 1:
            continue
        steps: set[int] = set()
        if all(_collect_steps(value, index, inside, steps) for value in again) and len(steps) == 1:
            in_step = in_step or steps != {0}
        elif not _begins_again(again, index, inside):
            others += 1
    return others + in_step


def _begins_again(values: list[Operand], phi: int, inside: dict[int, Instruction]) -> bool:
    """May one of the values of a phi come from outside the loop, whatever else it may be?"""
    pending, seen = list(values), {phi}
    while pending:
        value = pending.pop()
        if not isinstance(value, Local) or value.index not in inside:
            return True
        if value.index not in seen:
            seen.add(value.index)
            following = _operands(inside[value.index]) or ()
            pending += [operand for operand, _ in following]
    return False


def _defined_in(function: Function, loop: Loop) -> dict[int, Instruction]:
    """The instructions of a loop by the local that they define."""
    return {
        instruction.result.index: instruction
        for block in loop.blocks
        for instruction in function.blocks[block].instructions
        if instruction.result is not None
    }


def _header_phis(function: Function, loop: Loop) -> Iterator[tuple[Instruction, list[Operand]]]:
    """The phis of a loop's header with the values that a round gives them."""
    for phi in function.blocks[loop.header].instructions:
        if phi.opcode != "phi":
            return
        pairs = zip(phi.operands, phi.targets, strict=True)
        yield phi, [value for value, source in pairs if source in loop.blocks]


def _collect_steps(value: Operand, phi: int, inside: dict[int, Instruction], steps: set[int]) -> bool:
    """Is a value the phi plus a constant, whatever way it came about in the round? Collects the constants."""
    pending = [(value, 0)]
    seen: set[tuple[int, int]] = set()
    while pending:
        value, step = pending.pop()
        if not isinstance(value, Local):
            return False
        if value.index == phi:
            steps.add(step)
            continue
        if (value.index, step) in seen:
            continue
        if len(seen) > _MOST_VALUES or value.index not in inside:
            return False
        seen.add((value.index, step))
        following = _operands(inside[value.index])
        if following is None:
            return False
        pending += [(operand, step + more) for operand, more in following]
    return True


_MOST_VALUES = 64
"""Values looked at for one phi; an inner loop that counts on has no end of steps."""


def _operands(instruction: Instruction) -> list[tuple[Operand, int]] | None:
    """The operands that a value is a constant away from, with the constants; None if it is something else."""
    operands = instruction.operands
    if instruction.opcode == "phi":
        return [(operand, 0) for operand in operands]
    if instruction.opcode == "select":
        return [(operand, 0) for operand in operands[1:]]
    if instruction.opcode in ("add", "sub") and isinstance(operands[1], ConstInt):
        step = to_signed(operands[1].value, operands[1].type.width)
        return [(operands[0], step if instruction.opcode == "add" else -step)]
    if instruction.opcode == "getelementptr" and len(operands) == 2 and isinstance(operands[1], ConstInt):
        return [(operands[0], to_signed(operands[1].value, operands[1].type.width))]
    return None

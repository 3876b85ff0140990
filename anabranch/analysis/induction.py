"""Counters of loops: header phis that every round changes by constants of one sign."""

from __future__ import annotations

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
    inside = {
        instruction.result.index: instruction
        for block in loop.blocks
        for instruction in function.blocks[block].instructions
        if instruction.result is not None
    }
    counters = []
    for phi in function.blocks[loop.header].instructions:
        if phi.opcode != "phi":
            break
        assert phi.result is not None
        steps: set[int] = set()
        again = [
            value for value, source in zip(phi.operands, phi.targets, strict=True) if source in loop.blocks
        ]
        counts = all(_collect_steps(value, phi.result.index, inside, steps) for value in again) and any(steps)
        if counts and (min(steps) >= 0 or max(steps) <= 0):
            type = phi.result.type
            width = type.width if isinstance(type, IntType) else 64
            counters.append(Counter(phi.result.index, width, 1 if max(steps) > 0 else -1))
    return counters


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

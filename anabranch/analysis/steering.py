"""What steers a loop: the values that its branches and addresses depend on."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import PointerType
from anabranch.ir.values import Local, Operand


def steering_locals(function: Function, blocks: Iterable[int], within: Collection[int]) -> frozenset[int]:
    """The locals that a branch or an address in some blocks depends on, by way of registers that are written
    within a part of the function."""
    pending: list[Operand] = []
    for block in blocks:
        for instruction in function.blocks[block].instructions:
            pending += _decisive(instruction)
    definitions = {
        instruction.result.index: instruction
        for block in within
        for instruction in function.blocks[block].instructions
        if instruction.result is not None
    }
    found: set[int] = set()
    while pending:
        operand = pending.pop()
        if not isinstance(operand, Local) or operand.index in found:
            continue
        found.add(operand.index)
        definition = definitions.get(operand.index)
        if definition is None or definition.opcode in ("load", "call"):
            continue
        if definition.opcode == "phi":
            sources = zip(definition.operands, definition.targets, strict=True)
            pending += [value for value, source in sources if source in within]
        else:
            pending += definition.operands
    return frozenset(found)


def _decisive(instruction: Instruction) -> list[Operand]:
    """The operands that decide where an instruction goes on, or where it reads and writes."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode in ("br", "switch"):
        return list(operands)
    if opcode == "load":
        return list(operands[:1])
    if opcode == "store":
        return list(operands[1:2])
    if opcode == "call":
        return [o for o in operands if isinstance(o, Local) and isinstance(o.type, PointerType)]
    return []

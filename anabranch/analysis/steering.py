"""What steers a loop: the values that decide where it reads and writes, and when it is left."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.controldep import control_dependence
from anabranch.analysis.loops import Loop
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import PointerType
from anabranch.ir.values import Local, Operand


class Steering:
    """Backward slices over the registers of a function, with the branches that choose among values."""

    def __init__(self, function: Function) -> None:
        cfg = build_cfg(function)
        self._function = function
        self._successors = cfg.successors
        controllers = control_dependence(cfg).controllers
        self._controllers = [sorted({source for source, _ in edges}) for edges in controllers]
        """Of each block, the blocks whose branches decide whether it runs."""
        self._definitions = {
            instruction.result.index: (block.index, instruction)
            for block in function.blocks
            for instruction in block.instructions
            if instruction.result is not None
        }

    def of(self, loops: Iterable[Loop], within: Collection[int], exits: bool) -> frozenset[int]:
        """The locals that steer some loops, as far as they are followed within a part of the function. What
        is loaded from memory, or returned by a call, is not followed further. `exits`: do those count that
        only decide when a loop is left?"""
        loops = tuple(loops)
        pending: list[Operand] = []
        branches = set() if exits else {source for loop in loops for source, _ in loop.exits}

        def decided_by(block: int) -> None:
            """The branches that decide whether a block runs steer, too."""
            blocks = [block]
            while blocks:
                for controller in self._controllers[blocks.pop()]:
                    if controller in within and controller not in branches:
                        branches.add(controller)
                        pending.extend(self._function.blocks[controller].instructions[-1].operands)
                        blocks.append(controller)

        for loop in loops:
            for source, _ in loop.exits if exits else ():
                pending += self._function.blocks[source].instructions[-1].operands
                decided_by(source)
            for block in loop.blocks:
                for instruction in self._function.blocks[block].instructions:
                    pending += _addresses(instruction)
        found: set[int] = set()
        while pending:
            operand = pending.pop()
            if not isinstance(operand, Local) or operand.index in found:
                continue
            found.add(operand.index)
            block, definition = self._definitions.get(operand.index, (-1, None))
            if block not in within or definition is None or definition.opcode in ("load", "call"):
                continue
            if definition.opcode != "phi":
                pending += definition.operands
                continue
            for value, source in zip(definition.operands, definition.targets, strict=True):
                if source in within:
                    pending.append(value)
                    decided_by(source)
                    if len(self._successors[source]) > 1 and source not in branches:
                        branches.add(source)
                        pending += self._function.blocks[source].instructions[-1].operands
        return frozenset(found)


def _addresses(instruction: Instruction) -> list[Operand]:
    """The operands that say where an instruction reads and writes."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == "load":
        return list(operands[:1])
    if opcode == "store":
        return list(operands[1:2])
    if opcode == "call":
        return [o for o in operands if isinstance(o, Local) and isinstance(o.type, PointerType)]
    return []

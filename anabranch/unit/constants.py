"""Variables that a program never writes, though they are not declared constant."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.analysis.callgraph import mentioned
from anabranch.ir.module import Function, Module
from anabranch.ir.values import Local


def never_written(module: Module) -> frozenset[str]:
    """Variables of one file's own whose address goes nowhere but into loads."""
    own = {
        name
        for name, variable in module.globals.items()
        if variable.linkage in ("internal", "private") and not variable.constant
    }
    if not own:
        return frozenset()
    escaping: set[str] = set()
    for variable in module.globals.values():
        if variable.initializer is not None:
            escaping |= own & set(mentioned(variable.initializer))
    for function in module.defined_functions():
        escaping |= own & set(_escaping(function))
    return frozenset(own - escaping)


def _escaping(function: Function) -> Iterator[str]:
    """Symbols whose address is used for anything but a load, directly or at an offset."""
    derived: dict[int, list[str]] = {}  # results of getelementptr, by index of the local
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode == "load":
                continue
            if instruction.opcode == "getelementptr" and instruction.result is not None:
                derived[instruction.result.index] = list(mentioned(instruction.operands[0]))
                continue
            for operand in instruction.operands:
                yield from mentioned(operand)
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode == "load":
                continue
            for operand in instruction.operands:
                if isinstance(operand, Local):
                    yield from derived.get(operand.index, ())

"""Functions that never come back, by their form: every way through them ends in a call that does not.

Programs end in functions like `fatal`, which often are part of a cycle of calls (they clean up before). What
they do to memory is of no concern to those who call them, so such a call does not make a caller recursive.
"""

from __future__ import annotations

from anabranch.analysis.callgraph import CALLS, direct_callee
from anabranch.analysis.cfg import build_cfg
from anabranch.contracts import Externals
from anabranch.ir.module import Function, Module


def never_returning(module: Module, externals: Externals) -> frozenset[str]:
    """Names of functions, with and without a body. Only what is shown is in the set: cycles are no proof."""
    found = {
        name
        for name, function in module.functions.items()
        if function.noreturn or (function.is_declaration and externals.get(name).noreturn)
    }
    waiting = [f for f in module.defined_functions() if f.name not in found and _may_end(module, f)]
    changed = True
    while changed:
        ended = [function for function in waiting if not _returns(module, function, found)]
        changed = bool(ended)
        found.update(function.name for function in ended)
        waiting = [function for function in waiting if function.name not in found]
    return frozenset(found)


def _may_end(module: Module, function: Function) -> bool:
    """A function whose first block returns always does: the common case of small ones."""
    return function.blocks[0].instructions[-1].opcode != "ret" or any(
        instruction.opcode in CALLS for instruction in function.blocks[0].instructions
    )


def _returns(module: Module, function: Function, never: set[str]) -> bool:
    """Is there a way to a return on which no call stays away?"""
    successors = build_cfg(function).successors
    stack, seen = [0], {0}
    while stack:
        block = function.blocks[stack.pop()]
        if any(
            instruction.opcode in CALLS and direct_callee(module, instruction) in never
            for instruction in block.instructions
        ):
            continue
        if block.instructions[-1].opcode == "ret":
            return True
        for target in successors[block.index]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False

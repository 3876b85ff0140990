"""What an exploration that did not show a failure proves: that there is none, or why not."""

from __future__ import annotations

from anabranch.analysis.callgraph import build_call_graph, mentioned
from anabranch.explore.targets import STOPPED
from anabranch.ir.module import Module
from anabranch.unit.arguments import first_valued
from anabranch.unit.explore import UnitResult


def why_no_proof(found: UnitResult, module: Module) -> str:
    """Why an exploration that did not show the failure does not prove that there is none; "" if it does.

    It does if all paths that may lead to the line were followed to their ends, and what was explored for any
    call was not narrowed: sizes of buffers, first values, one answer for many.
    """
    result = found.result
    if result is None:
        return found.unsupported
    for target in result.targets:
        if target.status not in ("no error", "unreachable"):
            losses = [kind for kind in result.losses if kind != STOPPED]
            return f"not all paths were followed ({', '.join(losses[:3]) or 'other errors there'})"
    if any(error.kind == "out-of-bounds" for error in result.errors):
        return "paths ended at the end of a buffer"
    if found.invented:
        return f"only buffers of one size were tried ({', '.join(found.invented[:3])})"
    if result.fixed_answers:
        return f"some answers were fixed ({', '.join(sorted(result.fixed_answers)[:3])})"
    statics = kept_statics(module, found.function)
    if statics:
        return f"static variables had their first values ({', '.join(statics[:3])})"
    return ""


def kept_statics(module: Module, entry: str) -> list[str]:
    """Static variables of functions that a call of `entry` may read: they had their first values only."""
    kept = {variable.name for variable in first_valued(module)}
    found: set[str] = set()
    for name in build_call_graph(module, [entry]).sites:
        for block in module.functions[name].blocks:
            for instruction in block.instructions:
                for operand in instruction.operands:
                    found |= kept.intersection(mentioned(operand))
    return sorted(found)

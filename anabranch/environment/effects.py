"""What calls of functions without a body depend on and change, as their models declare."""

from __future__ import annotations

from functools import reduce
from operator import or_

from anabranch.analysis.callgraph import CallGraph
from anabranch.analysis.effects import Effects
from anabranch.environment.posix.kernel import CALL_EFFECTS
from anabranch.environment.registry import MODELS
from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import ConstInt, Local, Operand

SYSTEM_CALLS = frozenset(("syscall", *(f"__syscall{count}" for count in range(7))))
"""Functions that enter the kernel; their first argument is the number of the call."""
_MOST_ARGUMENTS = 6


class CallEffects:
    """Effects of the calls in a program, by their operands."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph

    def __call__(self, function: Function, call: Instruction, name: str) -> Effects | None:
        """None if nothing is declared."""
        if name not in SYSTEM_CALLS:
            found = MODELS.get(name)
            return found.effects if found is not None else None
        numbers = self._numbers(function, call.operands[1], set()) if len(call.operands) > 1 else None
        if not numbers:
            return None
        each = [system_call_effects(number) for number in sorted(numbers)]
        known = [effects for effects in each if effects is not None]
        return reduce(or_, known) if len(known) == len(each) else None

    def _numbers(self, function: Function, operand: Operand, seen: set[str]) -> set[int] | None:
        """Values of an operand that is a constant, or a parameter that is given constants; None if it may be
        something else. C libraries enter the kernel through a few functions that are told the number."""
        if isinstance(operand, ConstInt):
            return {operand.value}
        if not isinstance(operand, Local) or operand.index >= len(function.params):
            return None
        if function.name in self._graph.address_taken:
            return None
        if function.name in seen:
            return set()
        seen.add(function.name)
        found: set[int] = set()
        for site in self._graph.callers.get(function.name, ()):
            caller = self._graph.module.functions[site.caller]
            operands = caller.blocks[site.block].instructions[site.index].operands
            if len(operands) <= operand.index + 1:
                return None
            given = self._numbers(caller, operands[operand.index + 1], seen)
            if given is None:
                return None
            found |= given
        return found


def system_call_effects(number: int) -> Effects | None:
    """Effects of entering the kernel with a number, which is argument 0."""
    declared = CALL_EFFECTS.get(number)
    if declared is None:
        return None
    return declared.with_arguments({position: position + 1 for position in range(_MOST_ARGUMENTS)})

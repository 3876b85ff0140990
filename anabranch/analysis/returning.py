"""Which functions and calls never come back: they end the program, whatever happens."""

from __future__ import annotations

from collections.abc import Container

from anabranch.analysis.callgraph import CALLS, CallGraph
from anabranch.analysis.cfg import block_successors, reachable_from, reverse_edges
from anabranch.ir.module import Block, CallInfo, Function, Instruction


class Returning:
    """Answers for calls and blocks whether execution may go on behind them.

    A function comes back if one of its blocks without successors, other than by `unreachable`, can be reached
    through calls that come back. A function without a body, or with a body that is not run (`replaced`),
    comes back unless it is declared `noreturn`. A jump by `longjmp` does not come back.
    """

    __slots__ = ("_callees", "_functions", "_replaced", "never")

    def __init__(self, graph: CallGraph, replaced: Container[str] = ()) -> None:
        self._functions = graph.module.functions
        self._replaced = replaced
        self._callees: dict[str, dict[tuple[int, int], tuple[str, ...]]] = {
            name: {(site.block, site.index): site.callees for site in sites}
            for name, sites in graph.sites.items()
        }
        self.never: set[str] = set()
        """Names of the functions that never come back."""
        self._solve(graph)

    def _solve(self, graph: CallGraph) -> None:
        """Everything with a body is taken not to come back until a way to its return is found."""
        bodies = [name for name in graph.sites if name not in self._replaced]
        callees = {name for sites in graph.sites.values() for site in sites for name in site.callees}
        self.never.update(name for name in callees if self._functions[name].noreturn)
        self.never.update(bodies)
        waiting = bodies
        while waiting:
            found = [n for n in waiting if n in self.never and self._comes_back(self._functions[n])]
            self.never.difference_update(found)
            waiting = [site.caller for name in found for site in graph.callers.get(name, ())]

    def _comes_back(self, function: Function) -> bool:
        return 0 in may_return(function, [self.ends(function, block) for block in function.blocks])

    def call(self, function: Function, block: int, index: int) -> bool:
        """May the call at this position come back? True for what is not a call."""
        instruction = function.blocks[block].instructions[index]
        return instruction.opcode not in CALLS or not self._halts(function.name, block, index, instruction)

    def ends(self, function: Function, block: Block) -> bool:
        """Is the end of the block out of reach, or no way on?"""
        if block.instructions[-1].opcode == "unreachable":
            return True
        return any(
            # An invoke that does not come back may still unwind.
            instruction.opcode == "call" and self._halts(function.name, block.index, index, instruction)
            for index, instruction in enumerate(block.instructions)
        )

    def _halts(self, caller: str, block: int, index: int, call: Instruction) -> bool:
        info = call.extra
        if isinstance(info, CallInfo) and "noreturn" in info.attributes:
            return True
        callees = self._callees.get(caller, {}).get((block, index), ())
        return bool(callees) and all(name in self.never for name in callees)


def may_return(function: Function, ends: list[bool]) -> set[int]:
    """Blocks from which the function's return may be reached, if no path gets past the ends given."""
    successors = [() if ends[block.index] else block_successors(block) for block in function.blocks]
    leaving = [b for b, targets in enumerate(successors) if not targets and not ends[b]]
    return reachable_from(reverse_edges(successors), leaving)

"""Relevant static branches (3.1): those that decide whether a goal is reached.

A goal is a block of the chosen files that no path has executed to its end, behind each of its calls. A
block that calls a function with a goal is one as well, and so is one that jumps by `longjmp`, which is not
followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from anabranch.analysis.bits import ones_of
from anabranch.analysis.callgraph import mentioned
from anabranch.analysis.cfg import block_successors
from anabranch.explore.coverage import BlockTable
from anabranch.ir.checks import CHECK
from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import ConstInt
from anabranch.machine.tape import ACCESSES, PLAIN, Stack, kind_of
from anabranch.reduce.redundancy.facts import FunctionFacts, ProgramFacts

JUMPS = ("longjmp", "_longjmp", "siglongjmp", "__libc_longjmp")
REGISTERS = ("atexit", "__anabranch_at_exit", "on_exit", "__cxa_atexit", "at_quick_exit")
"""Functions that are given functions to call when the program ends."""
EXITS = ("exit", "quick_exit", "pthread_exit", "thrd_exit")
"""Functions that call these. That the entry function returns is no decision."""


class ErrorPlaces:
    """Instructions that may fail, until an error there has been reported."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, int, int]] = set()
        self._in: dict[str, frozenset[tuple[int, int]]] = {}

    def report(self, place: tuple[str, int, int]) -> bool:
        """An error has been reported; was none there before?"""
        new = place not in self._reported
        self._reported.add(place)
        return new

    def left(self, facts: FunctionFacts) -> frozenset[tuple[int, int]]:
        name = facts.function.name
        known = self._in.get(name)
        if known is None:
            known = self._in[name] = frozenset(
                (block.index, position)
                for block in facts.function.blocks
                for position, instruction in enumerate(block.instructions)
                if may_fail(facts, instruction)
            )
        return frozenset(place for place in known if (name, *place) not in self._reported)


def may_fail(facts: FunctionFacts, instruction: Instruction) -> bool:
    """Is an instruction an error for some operands?"""
    opcode = instruction.opcode
    if opcode in ACCESSES:
        return not facts.is_inside(instruction)
    if opcode in ("udiv", "sdiv", "urem", "srem", CHECK, "extractelement", "insertelement", "unreachable"):
        return not (len(instruction.operands) > 1 and isinstance(instruction.operands[1], ConstInt))
    if opcode in ("shl", "lshr", "ashr", "add", "sub", "mul"):
        return bool(instruction.flags) and facts.unit.program.check_overflow
    return opcode == "call" and kind_of(facts.unit.program, instruction) != PLAIN


class Goals:
    """The goals of a run as coverage grows."""

    def __init__(
        self,
        program: ProgramFacts,
        table: BlockTable,
        counters: Sequence[int],
        is_chosen: Callable[[Function], bool],
        errors: ErrorPlaces | None = None,
    ) -> None:
        """`errors`: the places of errors that are goals, too."""
        self._program = program
        self._table = table
        self._errors = errors
        self._counters = counters
        graph = program.graph
        functions = graph.module.functions
        self._open = {name for name in graph.sites if is_chosen(functions[name])}
        """Functions that may have goals of their own."""
        self._calling: dict[str, dict[str, int]] = {}
        """Function -> callee -> mask of the blocks that call it."""
        self._calls: dict[tuple[str, int], list[tuple[int, str]]] = {}
        """Function and block -> position of a call and a callee."""
        for name, sites in graph.sites.items():
            calls = self._calling[name] = {}
            for site in sites:
                for callee in program.callees(site):
                    calls[callee] = calls.get(callee, 0) | 1 << site.block
                    self._calls.setdefault((name, site.block), []).append((site.index, callee))
        self._callers: dict[str, list[str]] = {}
        for name, calls in self._calling.items():
            for callee in calls:
                self._callers.setdefault(callee, []).append(name)
        self._handlers = self._find_handlers()
        self._own: dict[str, int] = {}
        self._with_goals: set[str] = set()
        self._reaching: dict[str, int] = {}
        self.left = 0
        """Blocks that are goals."""
        self.update({})

    def _find_handlers(self) -> set[str]:
        """Functions that may be called when the program ends."""
        graph = self._program.graph
        found: set[str] = set()
        for name, sites in graph.sites.items():
            for site in sites:
                if not any(callee in REGISTERS for callee in site.callees):
                    continue
                call = graph.module.functions[name].blocks[site.block].instructions[site.index]
                named = [symbol for operand in call.operands[1:] for symbol in mentioned(operand)]
                known = [symbol for symbol in named if symbol in graph.sites]
                found.update(known or graph.address_taken)
        return found & set(graph.sites)

    def update(self, waiting: Mapping[int, int]) -> None:
        """Read the goals that are left off the counters. `waiting`: by counter, paths that wait in what it
        counts."""
        self._own = {}
        for name in sorted(self._open):
            mask = self._table.unfinished_blocks(name, self._counters, waiting)
            if mask:
                self._own[name] = mask
            elif not any(self._table.function_of(number).name == name for number in waiting):
                self._open.discard(name)
        self.left = sum(mask.bit_count() for mask in self._own.values())
        for name, calls in self._calling.items():
            for jump in JUMPS:
                if jump in calls:
                    self._own[name] = self._own.get(name, 0) | calls[jump]
        self._with_goals = self._callers_of(self._own)
        if self._with_goals & self._handlers:
            for name, calls in self._calling.items():
                for leave in EXITS:
                    if leave in calls:
                        self._own[name] = self._own.get(name, 0) | calls[leave]
            self._with_goals = self._callers_of(self._own)
        self._reaching = {}
        self.at_exit = bool(self._with_goals & self._handlers)
        """May code that runs at the end of the program reach a goal?"""

    def _callers_of(self, functions: Iterable[str]) -> set[str]:
        """These functions and all that call them."""
        found = set(functions)
        pending = list(found)
        while pending:
            for caller in self._callers.get(pending.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    pending.append(caller)
        return found

    def blocks(self, name: str) -> int:
        """The goals of a function, calls of functions that have some included."""
        if name not in self._with_goals:
            return 0
        mask = self._own.get(name, 0)
        for callee, blocks in self._calling[name].items():
            if callee in self._with_goals:
                mask |= blocks
        return mask

    def is_quiet(self, name: str) -> bool:
        """Is there no goal in a function, and in whatever it calls?"""
        return self._errors is None and name not in self._with_goals

    def aim(self, facts: FunctionFacts) -> None:
        """Say which branches of a function are relevant."""
        facts.aims = self.blocks(facts.function.name)
        facts.goal = 0
        if self._errors is not None:
            facts.may_fail = self._errors.left(facts)
            for block, _ in facts.may_fail:
                facts.aims |= 1 << block
        if facts.aims:
            facts.goal = self._program.regions(facts.function).controllers(facts.aims)

    def reachable(self, stack: Stack) -> bool:
        """Might a path with these frames reach a goal?"""
        if self.at_exit or self._errors is not None:
            return True
        for function, block, position in stack:
            if self._goes_to_goal(function, block, position):
                return True
            halting = self._program.regions(function).halting >> block & 1
            if halting or function.name in self._program.returning.never:
                return False  # the frames below do not go on
        return False

    # ---- what an end cuts off ------------------------------------------------------------------------

    def ahead(self, stack: Stack) -> bool:
        """Might a path reach a goal, had it not ended with these frames, or not in these blocks?"""
        if self.at_exit or self._errors is not None or not stack:
            return True
        return any(self._may_reach(*frame) for frame in stack)

    def _may_reach(self, function: Function, block: int, position: int) -> bool:
        reach = self._reach(function)
        if not reach:
            return False
        if self._goes_to_goal(function, block, position):
            return True
        regions = self._program.regions(function)
        return bool(regions.halting >> block & 1 and regions.controllers(1 << block) & reach)

    def _goes_to_goal(self, function: Function, block: int, position: int) -> bool:
        """Might a path reach a goal of this function, or in a call of it, from an instruction on?"""
        reach, name = self._reach(function), function.name
        if not reach >> block & 1:
            return False
        if self._own.get(name, 0) >> block & 1:
            return True
        if any(reach >> target & 1 for target in block_successors(function.blocks[block])):
            return True
        calls = self._calls.get((name, block), ())
        return any(index >= position and callee in self._with_goals for index, callee in calls)

    def _reach(self, function: Function) -> int:
        """Blocks of a function from which its goals may be reached."""
        found = self._reaching.get(function.name)
        if found is None:
            found = self.blocks(function.name)
            before: list[list[int]] = [[] for _ in function.blocks]
            for block in function.blocks:
                for target in block_successors(block):
                    before[target].append(block.index)
            pending = ones_of(found)
            while pending:
                for source in before[pending.pop()]:
                    if not found >> source & 1:
                        found |= 1 << source
                        pending.append(source)
            self._reaching[function.name] = found
        return found

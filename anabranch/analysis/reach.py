"""Which blocks may lead to given ones: an over-approximation, so that the rest is certainly out of reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from anabranch.analysis.callgraph import CALLS, direct_callee, mentioned, resolve_alias
from anabranch.analysis.cfg import block_successors
from anabranch.ir.module import Module

JUMPS = frozenset(("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"))
AT_EXIT = frozenset(("atexit", "__cxa_atexit", "at_quick_exit", "on_exit", "__anabranch_at_exit"))
"""Functions that have others called when the program ends."""


class MayReach:
    """Answers for the blocks of a program whether a path may come from there to a target.

    An indirect call may call every function whose address is taken, whatever its type. A jump out of a
    function (`longjmp`) may lead anywhere, and so may the end of a program that has functions called there.
    What follows a return to the caller is not part of an answer: ask for the block of every frame.
    """

    __slots__ = ("_blocks",)

    def __init__(self, module: Module, targets: Mapping[str, Iterable[int]]) -> None:
        graph = _Graph(module)
        reached = graph.backward(targets)
        if graph.runs_at_exit and any((name, 0) in reached for name in graph.taken):
            reached = {(f.name, block.index) for f in module.defined_functions() for block in f.blocks}
        self._blocks: dict[str, list[bool]] = {
            function.name: [(function.name, block.index) in reached for block in function.blocks]
            for function in module.defined_functions()
        }

    def function(self, name: str) -> Sequence[bool]:
        """By block of a function."""
        return self._blocks[name]


class _Graph:
    """Edges against the direction of control: of blocks, and from the entry of a function to its calls."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.before: dict[tuple[str, int], list[tuple[str, int]]] = {}
        self.callers: dict[str, list[tuple[str, int]]] = {}
        self.indirect: list[tuple[str, int]] = []
        self.jumps: list[tuple[str, int]] = []
        self.taken: set[str] = set()
        self.runs_at_exit = False
        for variable in module.globals.values():
            if variable.initializer is not None:
                self._take(mentioned(variable.initializer))
        for target in (*module.aliases.values(), *module.ifuncs.values()):
            self._take(mentioned(target))
        for function in module.defined_functions():
            self._function(function.name)

    def _take(self, names: Iterable[str]) -> None:
        for name in names:
            target = resolve_alias(self.module, name)
            if target in self.module.functions:
                self.taken.add(target)

    def _function(self, name: str) -> None:
        for block in self.module.functions[name].blocks:
            here = (name, block.index)
            for successor in block_successors(block):
                self.before.setdefault((name, successor), []).append(here)
            for instruction in block.instructions:
                operands = instruction.operands
                if instruction.opcode in CALLS:
                    self._call(direct_callee(self.module, instruction), here)
                    operands = operands[1:]
                for operand in operands:
                    self._take(mentioned(operand))

    def _call(self, callee: str | None, here: tuple[str, int]) -> None:
        if callee is None:
            self.indirect.append(here)
        elif callee in JUMPS:
            self.jumps.append(here)
        elif callee in AT_EXIT:
            self.runs_at_exit = True
        else:
            self.callers.setdefault(callee, []).append(here)

    def backward(self, targets: Mapping[str, Iterable[int]]) -> set[tuple[str, int]]:
        waiting = [(name, block) for name, blocks in targets.items() for block in blocks]
        waiting += self.jumps
        reached = set(waiting)
        while waiting:
            name, block = waiting.pop()
            sources = list(self.before.get((name, block), ()))
            if block == 0:
                sources += self.callers.get(name, ())
                if name in self.taken:
                    sources += self.indirect
            for source in sources:
                if source not in reached:
                    reached.add(source)
                    waiting.append(source)
        return reached

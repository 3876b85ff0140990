"""In which order functions are checked, which of them are roots, and what is never written.

Callees come before their callers. Functions of a component call each other; inside it their effects are not
known. Indirect calls, matched by type, would make nearly everything one component: they are followed where
that makes no cycle, and in a cycle that they make only direct calls count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anabranch.analysis.callgraph import (
    CALLS,
    CallGraph,
    build_call_graph,
    direct_callee,
    mentioned,
    resolve_alias,
)
from anabranch.analysis.components import named_components
from anabranch.ir.module import CallInfo, Function, Instruction, Module
from anabranch.ir.types import FunctionType
from anabranch.ir.values import ConstExpr, GlobalRef, InlineAsm, Local, Operand

_STEPS = frozenset(("getelementptr", "bitcast", "addrspacecast", "freeze"))


@dataclass(frozen=True, slots=True)
class Order:
    components: tuple[tuple[str, ...], ...]
    callers: dict[str, frozenset[str]]
    """Callers of each function, those that call it by a pointer included where they use its summary."""
    roots: frozenset[str]
    """Functions that somebody calls of whom nothing is known."""
    skipped: tuple[str, ...]
    """Functions that nobody can call."""
    callees: dict[str, tuple[str, ...]]
    """Functions whose summaries a function may use: those that it calls, and those whose address it or the
    constants that it mentions hold, and targets of its indirect calls; all of them come before it."""
    targets: dict[FunctionType, tuple[str, ...]]
    """Type of an indirect call -> the functions that it may reach, where they are few."""

    def names(self) -> Iterator[str]:
        """All functions in the order in which they are checked."""
        return (name for component in self.components for name in component)

    def closure(self, name: str) -> tuple[str, ...]:
        """The functions whose summaries matter to a function, each after those that it uses; the function
        itself is not among them."""
        found: dict[str, None] = {}
        stack = [(name, iter(self.callees[name]))]
        while stack:
            current, callees = stack[-1]
            callee = next((c for c in callees if c not in found), None)
            if callee is not None:
                stack.append((callee, iter(self.callees[callee])))
            else:
                found[current] = None
                stack.pop()
        return tuple(found)[:-1]


def order_functions(
    module: Module, everything: bool, never: frozenset[str] = frozenset(), max_targets: int = 0
) -> Order:
    """`never` are the functions that never return: calls of them close no cycle."""
    graph = build_call_graph(module)
    targets = _targets(module, graph, max_targets)
    defined = [function.name for function in module.defined_functions()]
    names = set(defined)
    direct: dict[str, list[str]] = {}
    callers: dict[str, set[str]] = {name: set() for name in defined}
    for name in defined:
        called = [c for site in graph.sites.get(name, ()) if not site.indirect for c in site.callees]
        direct[name] = [c for c in dict.fromkeys(called) if c in names]
        for callee in direct[name]:
            callers[callee].add(name)
    skipped = () if everything else _never_called(module, graph, direct, defined)
    left = [name for name in defined if name not in skipped]
    kept = {name: [c for c in direct[name] if c not in skipped] for name in left}
    gone = set(skipped)
    pointed = {name: _pointed(module, name, targets, gone) for name in left}
    components = tuple(_components(kept, pointed, never))
    usable = _usable(module, kept, pointed, components)
    for name in left:
        for target in pointed[name]:
            if target in usable[name]:
                callers[target].add(name)
    known = {name: frozenset(callers[name] - gone - {name}) for name in left}
    return Order(components, known, _roots(module, graph, known), skipped, usable, targets)


def _targets(module: Module, graph: CallGraph, most: int) -> dict[FunctionType, tuple[str, ...]]:
    """Only of whole programs: a library is given pointers to functions that are not here. To follow some of
    them nevertheless took 30% more time on zlib, and more was undecided."""
    found: dict[FunctionType, tuple[str, ...]] = {}
    if "main" not in module.functions or module.functions["main"].is_declaration:
        return found
    for caller, sites in graph.sites.items():
        for site in sites:
            if site.indirect and 0 < len(site.callees) <= most:
                info = module.functions[caller].blocks[site.block].instructions[site.index].extra
                assert isinstance(info, CallInfo)
                found[info.function_type] = site.callees
    return found


def _pointed(
    module: Module, name: str, targets: dict[FunctionType, tuple[str, ...]], skipped: set[str]
) -> list[str]:
    """Functions with a body that a function may call by a pointer."""
    found: dict[str, None] = {}
    for block in module.functions[name].blocks:
        for instruction in block.instructions:
            if is_indirect(module, instruction):
                assert isinstance(instruction.extra, CallInfo)
                found.update(dict.fromkeys(targets.get(instruction.extra.function_type, ())))
    return [t for t in found if t not in skipped and not module.functions[t].is_declaration]


def is_indirect(module: Module, instruction: Instruction) -> bool:
    return (
        instruction.opcode in CALLS
        and not isinstance(instruction.operands[0], InlineAsm)
        and direct_callee(module, instruction) is None
    )


def _usable(
    module: Module,
    direct: dict[str, list[str]],
    pointed: dict[str, list[str]],
    components: tuple[tuple[str, ...], ...],
) -> dict[str, tuple[str, ...]]:
    position = {name: number for number, name in enumerate(n for c in components for n in c)}
    held: dict[str, frozenset[str]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for name, number in position.items():
        usable = dict.fromkeys((*direct[name], *pointed[name]))
        for block in module.functions[name].blocks:
            for instruction in block.instructions:
                for operand in instruction.operands:
                    for symbol in mentioned(operand):
                        usable.update(dict.fromkeys(sorted(_functions_in(module, symbol, held))))
        before = [n for n in usable if position.get(n, number) < number]
        found[name] = tuple(sorted(before, key=position.__getitem__))
    return found


def _functions_in(module: Module, symbol: str, held: dict[str, frozenset[str]]) -> frozenset[str]:
    """The functions that a symbol is, or that the initial value of a variable leads to."""
    known = held.get(symbol)
    if known is None:
        found: set[str] = set()
        seen, stack = {symbol}, [symbol]
        while stack:
            name = resolve_alias(module, stack.pop())
            variable = module.globals.get(name)
            if name in module.functions:
                found.add(name)
            elif variable is not None and variable.initializer is not None:
                new = dict.fromkeys(n for n in mentioned(variable.initializer) if n not in seen)
                seen.update(new)
                stack += new
        known = held[symbol] = frozenset(found)
    return known


def _components(
    direct: dict[str, list[str]], pointed: dict[str, list[str]], never: frozenset[str]
) -> Iterator[tuple[str, ...]]:
    """Callees first. A cycle is taken apart at the indirect calls, and at the calls that never return."""
    for group in named_components({name: [*direct[name], *pointed[name]] for name in direct}):
        for component in named_components(_inside(direct, group, frozenset())):
            yield from map(tuple, named_components(_inside(direct, component, never)))


def _inside(calls: dict[str, list[str]], names: list[str], without: frozenset[str]) -> dict[str, list[str]]:
    """The calls among some functions. Calls of those that never return are left out only if there are
    several functions: a function that calls itself is a cycle of its own."""
    members = set(names) - (without if len(names) > 1 else frozenset())
    return {name: [c for c in calls[name] if c in members] for name in names}


def _never_called(
    module: Module, graph: CallGraph, direct: dict[str, list[str]], defined: list[str]
) -> tuple[str, ...]:
    """Functions that are not visible outside and that no function which can be called calls or mentions."""
    reached = {name for name in defined if is_external(module.functions[name]) or name in graph.address_taken}
    stack = list(reached)
    while stack:
        for callee in direct[stack.pop()]:
            if callee not in reached:
                reached.add(callee)
                stack.append(callee)
    return tuple(name for name in defined if name not in reached)


def is_external(function: Function) -> bool:
    """Can code that is not here call it?"""
    return function.linkage not in ("internal", "private")


def _roots(module: Module, graph: CallGraph, callers: dict[str, frozenset[str]]) -> frozenset[str]:
    whole = "main" in module.functions and not module.functions["main"].is_declaration
    return frozenset(
        name
        for name, known in callers.items()
        if name == "main"
        or not known
        or name in graph.address_taken
        or (not whole and is_external(module.functions[name]))
    )


def unwritten_globals(module: Module) -> tuple[frozenset[str], frozenset[str]]:
    """Globals that are only read, by their form: nobody stores to them or passes their address on. Those
    that nobody can write, and those that only code which is not here could."""
    whole = "main" in module.functions
    candidates = {variable.name for variable in module.globals.values() if not variable.declaration}
    for variable in module.globals.values():
        if variable.initializer is not None:
            candidates.difference_update(mentioned(variable.initializer))
    for target in module.aliases.values():
        candidates.difference_update(mentioned(target))
    for function in module.defined_functions():
        if candidates:
            candidates -= _written_in(module, function)
    hidden = {n for n in candidates if whole or module.globals[n].linkage in ("internal", "private")}
    return frozenset(hidden), frozenset(candidates - hidden)


def _written_in(module: Module, function: Function) -> set[str]:
    pointing: dict[int, set[str]] = {}
    written: set[str] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            for position, operand in enumerate(instruction.operands):
                names = _named(operand, pointing)
                if not names:
                    continue
                if instruction.opcode in _STEPS and position == 0 and instruction.result is not None:
                    pointing[instruction.result.index] = names
                elif not _reads(module, instruction, position):
                    written |= names
    return written


def _named(operand: Operand, pointing: dict[int, set[str]]) -> set[str]:
    if isinstance(operand, Local):
        return pointing.get(operand.index, set())
    if isinstance(operand, GlobalRef | ConstExpr):
        return set(mentioned(operand))
    return set()


def _reads(module: Module, instruction: Instruction, position: int) -> bool:
    if instruction.opcode in ("load", "icmp"):
        return True
    if instruction.opcode in CALLS:
        name = direct_callee(module, instruction)
        copied = name is not None and name.startswith(("llvm.memcpy", "llvm.memmove"))
        return position == 0 or (copied and position == 2)
    return False

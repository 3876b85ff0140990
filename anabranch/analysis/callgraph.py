"""Who calls whom: direct calls by name, indirect ones by type among the functions whose address is taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anabranch.ir.module import CallInfo, Function, Instruction, Module
from anabranch.ir.types import FunctionType
from anabranch.ir.values import BlockAddress, ConstAggregate, ConstExpr, GlobalRef, InlineAsm, Operand

CALLS = frozenset(("call", "invoke", "callbr"))


@dataclass(frozen=True, slots=True)
class CallSite:
    caller: str
    block: int
    index: int
    callees: tuple[str, ...]
    """Possible callees, declarations included; several only if the call is indirect."""
    indirect: bool


@dataclass(slots=True)
class CallGraph:
    """Calls of the functions reached from the roots, in the order of the text. Functions are named."""

    module: Module
    sites: dict[str, list[CallSite]] = field(default_factory=dict)
    """Caller -> its calls; every defined function that is reached has an entry."""
    callers: dict[str, list[CallSite]] = field(default_factory=dict)
    """Callee -> calls that may reach it."""
    address_taken: set[str] = field(default_factory=set)

    def callees(self, function: str) -> list[str]:
        """Possible callees, each once, in order."""
        return list(dict.fromkeys(name for site in self.sites.get(function, ()) for name in site.callees))


def build_call_graph(module: Module, roots: Iterable[str] | None = None) -> CallGraph:
    """The graph of everything reached from `roots` (default: every defined function).

    A function is reached by a call, or by its address being mentioned in code or data that is reached.
    """
    return _Builder(module).build(roots)


def mentioned(operand: Operand) -> Iterator[str]:
    """Names of the symbols inside an operand."""
    stack = [operand]
    while stack:
        current = stack.pop()
        if isinstance(current, GlobalRef):
            yield current.name
        elif isinstance(current, ConstAggregate):
            stack.extend(reversed(current.elements))
        elif isinstance(current, ConstExpr):
            stack.extend(reversed(current.operands))
        elif isinstance(current, BlockAddress):
            yield current.function


def resolve_alias(module: Module, name: str) -> str:
    """The symbol behind a chain of aliases that simply rename; the name itself otherwise."""
    for _ in range(len(module.aliases) + 1):
        target = module.aliases.get(name)
        if not isinstance(target, GlobalRef):
            return name
        name = target.name
    return name


def direct_callee(module: Module, call: Instruction) -> str | None:
    """Name of the function that a call names; None if it is indirect or inline assembly."""
    callee = call.operands[0]
    if not isinstance(callee, GlobalRef):
        return None
    name = resolve_alias(module, callee.name)
    return name if name in module.functions else None


def compatible(function: Function, call_type: FunctionType) -> bool:
    """May a call through this type land in the function? Generous: C allows calls without a prototype."""
    params, args = function.type.params, call_type.params
    if function.vararg:
        return len(args) >= len(params) and args[: len(params)] == params
    if call_type.vararg:
        return len(args) <= len(params) and args == params[: len(args)]
    return params == args and (function.type.ret is call_type.ret or not call_type.ret.bits)


class _Builder:
    """Walks what is reached; an address that is taken reaches its function, so indirect calls add nothing."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.graph = CallGraph(module)
        self.pending: list[str] = []
        self.seen: set[str] = set()
        self.direct: dict[str, list[tuple[int, int, str]]] = {}
        self.indirect: dict[str, list[tuple[int, int, FunctionType]]] = {}

    def build(self, roots: Iterable[str] | None) -> CallGraph:
        module = self.module
        names = [f.name for f in module.defined_functions()] if roots is None else list(roots)
        for name in names:
            self._reach(resolve_alias(module, name))
        while self.pending:
            name = self.pending.pop()
            if name in module.functions:
                self._scan_function(module.functions[name])
            elif name in module.globals:
                initializer = module.globals[name].initializer
                if initializer is not None:
                    self._take_addresses(initializer)
            elif name in module.aliases:
                self._take_addresses(module.aliases[name])
            elif name in module.ifuncs:
                self._take_addresses(module.ifuncs[name])
        self._link()
        return self.graph

    def _reach(self, name: str) -> None:
        if name not in self.seen:
            self.seen.add(name)
            self.pending.append(name)

    def _take_addresses(self, operand: Operand) -> None:
        for name in mentioned(operand):
            target = resolve_alias(self.module, name)
            if target in self.module.functions:
                self.graph.address_taken.add(target)
            self._reach(target)

    def _scan_function(self, function: Function) -> None:
        if function.is_declaration:
            return
        direct = self.direct[function.name] = []
        indirect = self.indirect[function.name] = []
        for block in function.blocks:
            for index, instruction in enumerate(block.instructions):
                operands = instruction.operands
                if instruction.opcode in CALLS:
                    name = direct_callee(self.module, instruction)
                    if name is not None:
                        direct.append((block.index, index, name))
                        self._reach(name)
                    elif not isinstance(operands[0], InlineAsm):
                        self._take_addresses(operands[0])
                        info = instruction.extra
                        assert isinstance(info, CallInfo)
                        indirect.append((block.index, index, info.function_type))
                    operands = operands[1:]
                for operand in operands:
                    if operand.__class__ in _MENTIONING:
                        self._take_addresses(operand)

    def _link(self) -> None:
        graph, module = self.graph, self.module
        taken = [f for f in module.functions.values() if f.name in graph.address_taken]
        by_type: dict[FunctionType, tuple[str, ...]] = {}
        for caller in module.functions:
            if caller not in self.direct:
                continue
            sites = [CallSite(caller, b, i, (name,), False) for b, i, name in self.direct[caller]]
            for block, index, call_type in self.indirect[caller]:
                if call_type not in by_type:
                    by_type[call_type] = tuple(f.name for f in taken if compatible(f, call_type))
                sites.append(CallSite(caller, block, index, by_type[call_type], True))
            sites.sort(key=lambda site: (site.block, site.index))
            graph.sites[caller] = sites
            for site in sites:
                for callee in site.callees:
                    graph.callers.setdefault(callee, []).append(site)


_MENTIONING = frozenset((GlobalRef, ConstAggregate, ConstExpr, BlockAddress))

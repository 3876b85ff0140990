"""Which variables in memory may be reached through pointers that lie in memory themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anabranch.analysis.addresses import Addresses, Base
from anabranch.analysis.callgraph import CALLS, CallGraph, mentioned, resolve_alias
from anabranch.ir.module import Function, Instruction, Module
from anabranch.ir.types import PTR
from anabranch.ir.values import Operand

_KEEPING = frozenset(("ret", "ptrtoint", "insertvalue", "insertelement", "atomicrmw", "cmpxchg"))
"""Instructions that put an address where it is no longer followed; a store does so with its first operand."""


class Escapes:
    """Bases whose address is stored, returned, made an integer, mentioned in data, or passed to a function
    that lets its argument escape. Functions without a body keep nothing."""

    def __init__(self, graph: CallGraph, addresses: Callable[[str], Addresses]) -> None:
        self.graph = graph
        self.addresses = addresses
        self.found: set[tuple[str, Base]] = set()
        """Function and base; globals belong to the function ""."""
        self._passed: dict[tuple[str, Base], list[tuple[str, Base]]] = {}
        """Argument of a callee -> what callers pass for it."""
        module = graph.module
        for name in graph.sites:
            self._scan(module.functions[name])
        for variable in module.globals.values():
            if variable.initializer is not None:
                for symbol in mentioned(variable.initializer):
                    self.found.add(("", ("global", resolve_alias(module, symbol))))
        pending = list(self.found)
        while pending:
            for source in self._passed.get(pending.pop(), ()):
                if source not in self.found:
                    self.found.add(source)
                    pending.append(source)

    def __contains__(self, key: tuple[str, Base]) -> bool:
        function, base = key
        return base[0] == "pointer" or (("" if base[0] == "global" else function), base) in self.found

    def _scan(self, function: Function) -> None:
        callees = {(s.block, s.index): s.callees for s in self.graph.sites[function.name]}
        addresses = self.addresses(function.name)
        for block in function.blocks:
            for index, instruction in enumerate(block.instructions):
                if instruction.opcode in CALLS:
                    self._scan_call(
                        function.name, instruction, callees.get((block.index, index), ()), addresses
                    )
                elif instruction.opcode == "store" or instruction.opcode in _KEEPING:
                    kept = instruction.operands[:1] if instruction.opcode == "store" else instruction.operands
                    for operand in kept:
                        if operand.type is PTR:
                            self.found.update(_keys(function.name, addresses, operand))

    def _scan_call(
        self, name: str, call: Instruction, callees: tuple[str, ...], addresses: Addresses
    ) -> None:
        module: Module = self.graph.module
        for number, operand in enumerate(call.operands[1:]):
            if operand.type is not PTR:
                continue
            keys = list(_keys(name, addresses, operand))
            for callee in callees if keys else ():
                body = module.functions[callee]
                if body.is_declaration:
                    continue
                if number >= len(body.params):
                    self.found.update(keys)
                else:
                    self._passed.setdefault((callee, ("argument", number)), []).extend(keys)


def _keys(function: str, addresses: Addresses, operand: Operand) -> Iterator[tuple[str, Base]]:
    for base, _ in addresses.target(operand).pointees:
        yield ("" if base[0] == "global" else function), base

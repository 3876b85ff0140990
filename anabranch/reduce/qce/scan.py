"""From instructions to the graph of dependences: one function an opcode."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.analysis.addresses import Addresses, Target
from anabranch.analysis.callgraph import CALLS, direct_callee
from anabranch.ir.module import Block, Function, Instruction, Module
from anabranch.ir.types import PTR
from anabranch.ir.values import ConstInt, InlineAsm, Local, Operand
from anabranch.reduce.qce.dependence import Graph, Position, Read
from anabranch.reduce.qce.parameters import QceParameters
from anabranch.reduce.qce.summaries import HEAP, HEAP_EXTENT, Summary, Variable
from anabranch.reduce.qce.weights import known_targets
from anabranch.semantics.integers import DIVISIONS, SHIFTS

Callees = Callable[[int, int], Summary]
"""The summary of the call at a block and an instruction."""


class Scanner:
    """Reads one function into a graph."""

    def __init__(
        self, module: Module, function: Function, graph: Graph, callees: Callees, parameters: QceParameters
    ) -> None:
        self.module = module
        self.function = function
        self.graph = graph
        self.addresses: Addresses = graph.addresses
        self.callees = callees
        self.parameters = parameters

    def scan(self, block: Block) -> None:
        for index, instruction in enumerate(block.instructions):
            handler = _HANDLERS.get(instruction.opcode, Scanner._compute)
            handler(self, instruction, (block.index, index))

    def _compute(self, instruction: Instruction, position: Position) -> None:
        """The result is made from the operands."""
        if instruction.result is not None:
            for operand in instruction.operands:
                if operand.__class__ is Local:
                    self.graph.read(self.graph.value(operand), instruction.result.index, position)

    def _phi(self, instruction: Instruction, position: Position) -> None:
        assert instruction.result is not None
        for operand, source in zip(instruction.operands, instruction.targets, strict=True):
            self.graph.read_on_edge(operand, instruction.result.index, (source, position[0]))

    def _address(self, operand: Operand, position: Position) -> tuple[Target, list[Read]]:
        """What an address means, and what it depends on; an access through it may be a query."""
        target = self.addresses.target(operand)
        reads = [] if target.static else self.graph.value(operand)
        if reads:
            asked = [*reads, *self.graph.extents(target)]
            self.graph.query(asked, position, self.parameters.memory_weight)
        return target, reads

    def _load(self, instruction: Instruction, position: Position) -> None:
        assert instruction.result is not None
        target, reads = self._address(instruction.operands[0], position)
        contents = self.graph.contents(target, (instruction.type.bits + 7) // 8)
        self.graph.read([*reads, *contents], instruction.result.index, position)

    def _store(self, instruction: Instruction, position: Position) -> None:
        value, pointer = instruction.operands
        self._write(pointer, [value], (value.type.bits + 7) // 8, position, replaces=True)

    def _write(
        self, pointer: Operand, values: list[Operand], size: int, position: Position, replaces: bool
    ) -> None:
        target, reads = self._address(pointer, position)
        for value in values:
            reads = [*reads, *self.graph.value(value)]
        if replaces and target.pointees and target.pointees[0][1] is not None:
            base, start = target.pointees[0]
            assert start is not None
            self.graph.kill(position, base, start, start + size)
        written = self.graph.contents(target, size)
        if reads:
            node = self.graph.node()
            self.graph.read(reads, node, position)
            self.graph.write(node, written, position)

    def _exchange(self, instruction: Instruction, position: Position) -> None:
        """atomicrmw and cmpxchg: read, then write something made of it."""
        assert instruction.result is not None
        pointer, *values = instruction.operands
        size = (values[0].type.bits + 7) // 8
        contents = self.graph.contents(self.addresses.target(pointer), size)
        self._compute(instruction, position)
        self.graph.read(contents, instruction.result.index, position)
        self._write(pointer, [*values, instruction.result], size, position, replaces=False)

    def _branch(self, instruction: Instruction, position: Position) -> None:
        choices = len(known_targets(instruction))
        if choices > 1:
            self.graph.query(self.graph.value(instruction.operands[0]), position, float(choices - 1))

    def _return(self, instruction: Instruction, position: Position) -> None:
        self.graph.returns.append(position)
        for operand in instruction.operands:
            self.graph.read(self.graph.value(operand), self.graph.result, position)

    def _check(self, instruction: Instruction, position: Position) -> None:
        self._compute(instruction, position)
        checked = instruction.operands[-1]
        if isinstance(checked, Local):
            self.graph.query(self.graph.value(checked), position, self.parameters.check_weight)

    # Calls.

    def _call(self, instruction: Instruction, position: Position) -> None:
        graph = self.graph
        callee, *arguments = instruction.operands
        if isinstance(callee, InlineAsm):
            self._compute(instruction, position)
            return
        name = direct_callee(self.module, instruction)
        if name is not None and name.startswith("llvm."):
            self._overwrite(name, arguments, position)
        elif name is None:
            graph.query(graph.value(callee), position, 1.0)
        summary = self.callees(*position)
        external = name is not None and self.module.functions[name].is_declaration
        for variables, count in summary.queries:
            reads = self._map(variables, arguments)
            # A model makes no queries if all its arguments are known; a branch in a body always counts.
            if reads or not external:
                graph.query(reads, position, count, summary.exponent)
        if instruction.result is not None:
            graph.read(self._map(summary.result, arguments), instruction.result.index, position)
        for targets, variables in summary.writes:
            reads = self._map(variables, arguments)
            if reads:
                node = graph.node()
                graph.read(reads, node, position)
                graph.write(node, self._map(targets, arguments), position)

    def _map(self, variables: tuple[Variable, ...], arguments: list[Operand]) -> list[Read]:
        """Variables at the callee's entry as reads of the caller."""
        reads: dict[Read, None] = {}
        for variable in variables:
            for read in self._map_one(variable, arguments):
                reads[read] = None
        return list(reads)

    def _map_one(self, variable: Variable, arguments: list[Operand]) -> list[Read]:
        if variable[0] == "local":
            return self.graph.value(arguments[variable[1]]) if variable[1] < len(arguments) else []
        if variable[0] == "heap":
            return [HEAP]
        base = variable[1]
        if base is None:
            return [HEAP_EXTENT]
        if base[0] == "global":
            return [variable]
        number = base[1]
        if not isinstance(number, int) or number >= len(arguments) or arguments[number].type is not PTR:
            return []
        target = self.addresses.target(arguments[number])
        if variable[0] == "extent":
            return self.graph.extents(target)
        if variable[0] == "any":
            return self.graph.contents(target, 0, None)
        return self.graph.contents(target, variable[3], variable[2])

    def _overwrite(self, name: str, arguments: list[Operand], position: Position) -> None:
        """Intrinsics that leave nothing of what was in a range of memory."""
        whole = name.startswith(("llvm.lifetime.start", "llvm.lifetime.end"))
        if not whole and not name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
            return
        target = self.addresses.target(next(a for a in arguments if a.type is PTR))
        size = arguments[2] if not whole else None
        if not target.pointees or target.pointees[0][1] is None:
            return
        base, start = target.pointees[0]
        assert start is not None
        if whole and start == 0:
            self.graph.kill(position, base, 0, None)
        elif isinstance(size, ConstInt):
            self.graph.kill(position, base, start, start + size.value)


_Handler = Callable[[Scanner, Instruction, Position], None]
_HANDLERS: dict[str, _Handler] = {
    "phi": Scanner._phi,
    "load": Scanner._load,
    "store": Scanner._store,
    "atomicrmw": Scanner._exchange,
    "cmpxchg": Scanner._exchange,
    "br": Scanner._branch,
    "switch": Scanner._branch,
    "indirectbr": Scanner._branch,
    "ret": Scanner._return,
    "alloca": Scanner._check,
    **dict.fromkeys(CALLS, Scanner._call),
    **dict.fromkeys(DIVISIONS | SHIFTS, Scanner._check),
}

"""Data dependence in one function: which queries may depend on a value, (l, v) <| (l', e).

Nodes are SSA values, writes to memory and queries; an edge says that the second is computed from the first.
What a node leads to is a bit mask of queries, found once for all nodes. That a *variable at a location*
matters is finer: only the uses of its value that can still come count. A backward flow (`flow.Exposure`)
says which uses of which variables are ahead of a location; the same flow leads from a write to memory to the
uses of what it writes.

Memory: a write to a base at a constant offset reaches uses that overlap it and replaces what was there; one
at an unknown offset reaches every use of the base; memory behind pointers that come from memory or from
calls is also one variable of its own (`heap`), because two such pointers may be equal.

Sizes: the check of an access at an address that is not static depends on the size of the object that its base
points into. Nothing writes a size: `realloc` and a loop's next allocation give another object, another base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anabranch.analysis.addresses import Addresses, Base, Target
from anabranch.analysis.components import strong_components
from anabranch.ir.values import Local, Operand
from anabranch.reduce.qce.summaries import HEAP, HEAP_EXTENT, Variable

Read = Variable
"""What an expression is computed from; ("any", base) is a read at an unknown offset."""

Position = tuple[int, int]
"""Block and instruction; a use by a phi is at the end of the block it comes from."""


@dataclass(slots=True, eq=False)
class Query:
    """Queries that depend on the same variables: one bit, and where they are made."""

    bit: int
    node: int
    made: list[tuple[int, int, float, int]] = field(init=False, default_factory=list)
    """Block, instruction, number, exponent."""


class Graph:
    """The nodes, edges and uses of one function: filled by `scan`, completed by `add_exits`, closed by
    `link`."""

    def __init__(self, local_count: int, addresses: Addresses, escapes: Callable[[Base], bool]) -> None:
        self.addresses = addresses
        self.escapes = escapes
        self.successors: list[list[int]] = [[] for _ in range(local_count)]
        self.own: dict[int, int] = {}
        """Bits of queries and of ends at their own nodes."""
        self.variables: dict[Variable, int] = {}
        """Memory; the number of a local is its index."""
        self.queries: dict[frozenset[Read], Query] = {}
        self.uses: dict[int, list[tuple[Position, int, bool]]] = {}
        """Variable -> where it is used, the node made from it, and whether by a phi: then the position is the
        edge, from block to block."""
        self.cells: dict[Base, dict[tuple[int, int], int]] = {}
        self.reads_anywhere: dict[Base, list[tuple[Position, int]]] = {}
        self.writes: list[tuple[int, Variable, Position]] = []
        self.kills: dict[Position, list[tuple[Base, int, int | None]]] = {}
        """Ranges of a base that an instruction overwrites; to None: the base up to its end."""
        self.returns: list[Position] = []
        self.written: dict[Variable, int] = {}
        """Memory of callers that is written -> the node of what it is at the return."""
        self.result = self.node()
        self.masks: list[int] = []

    # Nodes.

    def node(self) -> int:
        self.successors.append([])
        return len(self.successors) - 1

    def variable(self, variable: Variable) -> int:
        if variable[0] == "local":
            return variable[1]
        found = self.variables.get(variable)
        if found is None:
            found = self.variables[variable] = self.node()
            if variable[0] == "cell":
                self.cells.setdefault(variable[1], {})[variable[2], variable[3]] = found
        return found

    # Reads.

    def value(self, operand: Operand) -> list[Read]:
        """An operand as a read; addresses that are the same on every path are constants."""
        if not isinstance(operand, Local):
            return []
        definition = self.addresses.definitions.get(operand.index)
        if definition is not None and definition.opcode in ("alloca", "getelementptr"):
            target = self.addresses.target(operand)
            if target.static and target.pointees:
                return []
        return [("local", operand.index)]

    @staticmethod
    def contents(target: Target, size: int, offset: int | None = 0) -> list[Read]:
        """The memory an address means, as reads of `size` bytes, `offset` bytes further on (None:
        anywhere)."""
        reads: list[Read] = []
        for base, start in target.pointees:
            if start is None or offset is None:
                reads.append(("any", base))
            else:
                reads.append(("cell", base, start + offset, size))
        if target.heap:
            reads.append(HEAP)
        return reads

    def extents(self, target: Target) -> list[Read]:
        """The sizes of the objects that an address may point into, as far as they can differ."""
        reads: list[Read] = []
        for base, _ in target.pointees:
            if base[0] == "alloca":
                count = self.addresses.definitions[base[1]].operands[-1:]
                if not count or not isinstance(count[0], Local):
                    continue
            if base[0] != "global":
                reads.append(("extent", base))
        if target.heap:
            reads.append(HEAP_EXTENT)
        return reads

    def read(self, reads: Iterable[Read], target: int, position: Position) -> None:
        """Node `target` is computed from these at this position."""
        for read in reads:
            if read[0] == "any":
                self.variable(read)
                self.reads_anywhere.setdefault(read[1], []).append((position, target))
                continue
            source = self.variable(read)
            if read[0] == "local":
                self.successors[source].append(target)
            self._use(source, target, position)

    def read_on_edge(self, operand: Operand, target: int, edge: tuple[int, int]) -> None:
        """A phi, node `target`, takes the operand along an edge."""
        for read in self.value(operand):
            source = self.variable(read)
            self.successors[source].append(target)
            self.uses.setdefault(source, []).append((edge, target, True))

    def _use(self, variable: int, target: int, position: Position) -> None:
        self.uses.setdefault(variable, []).append((position, target, False))

    # Writes and queries.

    def write(self, source: int, targets: Iterable[Variable], position: Position) -> None:
        """Node `source` is stored into memory that these name."""
        for target in targets:
            self.variable(target)
            self.writes.append((source, target, position))
            if target[0] == "heap" or (
                (target[0] == "cell" or target[0] == "any") and target[1][0] in ("global", "argument")
            ):
                self.written.setdefault(target, -1)

    def kill(self, position: Position, base: Base, start: int, end: int | None) -> None:
        self.kills.setdefault(position, []).append((base, start, end))

    def query(self, reads: Iterable[Read], position: Position, number: float, exponent: int = 0) -> None:
        """So many queries that depend on these are made here."""
        if not number:
            return
        reads = dict.fromkeys(reads)
        key = frozenset(reads)
        query = self.queries.get(key)
        if query is None:
            query = self.queries[key] = Query(len(self.queries), self.node())
            self.own[query.node] = 1 << query.bit
        query.made.append((*position, number, exponent))
        self.read(reads, query.node, position)

    # The end.

    def add_exits(self) -> None:
        """Uses by reads at unknown offsets, of every cell of the base; uses of written memory by the
        caller."""
        for variable in self.written:
            node = self.written[variable] = self.node()
            for position in self.returns:
                self.read((variable,), node, position)
        for base, reads in self.reads_anywhere.items():
            rest = self.variable(("any", base))
            for variable_node in (*self.cells.get(base, {}).values(), rest):
                for position, target in reads:
                    self._use(variable_node, target, position)

    def affected(self, variable: Variable) -> list[int]:
        """Variables that a write to memory may change; a base that escapes and the heap change together."""
        if variable[0] == "heap":
            found = [self.variable(variable)]
            for base in dict.fromkeys((*self.cells, *self.reads_anywhere)):
                if self.escapes(base):
                    found.extend(self._all_of(base))
            return found
        if variable[0] == "cell":
            _, base, start, size = variable
            found = [
                node
                for (other, length), node in self.cells[base].items()
                if other < start + size and start < other + length
            ]
        else:
            assert variable[0] == "any"
            base = variable[1]
            found = self._all_of(base)
        if self.escapes(base):
            found.append(self.variable(HEAP))
        return found

    def _all_of(self, base: Base) -> list[int]:
        return [*self.cells.get(base, {}).values(), self.variable(("any", base))]

    def link(self, reached: Callable[[Variable, Position], tuple[int, ...]]) -> None:
        """Lead every write to the nodes made from it, then find what every node leads to.

        `reached` gives these nodes for a write at a position.
        """
        shared: dict[tuple[int, ...], int] = {}
        for source, variable, position in self.writes:
            targets = reached(variable, position)
            if not targets:
                continue
            node = shared.get(targets)
            if node is None:
                node = shared[targets] = self.node()
                self.successors[node].extend(targets)
            self.successors[source].append(node)
        bit = 1 << len(self.queries)
        self.own[self.result] = bit
        for node in self.written.values():
            bit <<= 1
            self.own[node] = bit
        self.masks = reached_masks(self.successors, self.own)


def reached_masks(successors: list[list[int]], own: dict[int, int]) -> list[int]:
    """For every node the bits of all nodes it leads to, itself included."""
    masks = [0] * len(successors)
    for members in strong_components(successors):
        mask = 0
        for member in members:
            mask |= own.get(member, 0)
            for target in successors[member]:
                mask |= masks[target]
        for member in members:
            masks[member] = mask
    return masks

"""Which uses of which values are ahead of a location: liveness over single uses, with bit masks."""

from __future__ import annotations

from anabranch.analysis.bits import ones_of
from anabranch.analysis.cfg import CFG
from anabranch.ir.module import Function
from anabranch.reduce.qce.dependence import Graph, Position
from anabranch.reduce.qce.summaries import Variable


class Exposure:
    """`entry[b]`: uses ahead of block b, once its phis are assigned, of values that are the same as there.

    A mask has one bit a use; those of one variable are next to each other.
    """

    def __init__(self, function: Function, cfg: CFG, graph: Graph) -> None:
        self.graph = graph
        self._of_variable: dict[int, int] = {}
        self._at: dict[Position, int] = {}
        self._on_edge: dict[tuple[int, int], int] = {}
        self._variables: list[tuple[int, int, int, tuple[int, ...]]] = []
        """Variable, its lowest bit, its bits shifted down by that, the nodes made from its uses."""
        self._number()
        self._targets = [target for *_, targets in self._variables for target in targets]
        self._after: dict[Position, int] = {}
        self._changed: dict[Variable, int] = {}
        self._made: dict[int, tuple[int, ...]] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self._steps: list[list[tuple[int, int, int]]] = [[] for _ in function.blocks]
        self._phi_kills = [0] * len(function.blocks)
        self.cfg = cfg
        for block in cfg.order:
            self._collect(function, block)
        self.entry = self._solve()

    def _number(self) -> None:
        low = 0
        for variable, uses in self.graph.uses.items():
            for number, (position, _, by_phi) in enumerate(uses, low):
                positions = self._on_edge if by_phi else self._at
                positions[position] = positions.get(position, 0) | 1 << number
            ones = (1 << len(uses)) - 1
            self._of_variable[variable] = ones << low
            self._variables.append((variable, low, ones, tuple(target for _, target, _ in uses)))
            low += len(uses)

    def nodes(self, variable: Variable, position: Position) -> tuple[int, ...]:
        """Nodes made from memory as a write at this position leaves it."""
        ahead = self._after.get(position)
        if ahead is None:
            ahead = self._after[position] = self.after(*position)
        changed = self._changed.get(variable)
        if changed is None:
            changed = 0
            for node in self.graph.affected(variable):
                changed |= self._of_variable.get(node, 0)
            self._changed[variable] = changed
        uses = ahead & changed
        found = self._made.get(uses)
        if found is None:
            found = tuple(dict.fromkeys(map(self._targets.__getitem__, ones_of(uses))))
            self._made[uses] = found
        return found

    def queries(self, ahead: int) -> dict[int, int]:
        """Variable -> mask of the queries (and ends) that its uses in a mask lead to."""
        masks, unions = self.graph.masks, self._unions
        found: dict[int, int] = {}
        for variable, low, ones, targets in self._variables:
            uses = ahead >> low & ones
            if uses:
                # Most variables have the same uses ahead of many locations.
                mask = unions.get((variable, uses))
                if mask is None:
                    mask = 0
                    for use in ones_of(uses):
                        mask |= masks[targets[use]]
                    unions[variable, uses] = mask
                found[variable] = mask
        return found

    def _collect(self, function: Function, block: int) -> None:
        """The block's changes from its end to its start: instruction, uses that stay, uses that come."""
        graph = self.graph
        steps = self._steps[block]
        instructions = function.blocks[block].instructions
        for index in range(len(instructions) - 1, -1, -1):
            position = (block, index)
            kill = 0
            result = instructions[index].result
            if result is not None:
                kill = self._of_variable.get(result.index, 0)
                for kind in ("alloca", "pointer"):
                    kill |= self._range((kind, result.index), 0, None)
                    extent = graph.variables.get(("extent", (kind, result.index)))
                    if extent is not None:
                        kill |= self._of_variable.get(extent, 0)
            if instructions[index].opcode == "phi":
                self._phi_kills[block] |= kill
                continue
            for base, start, end in graph.kills.get(position, ()):
                kill |= self._range(base, start, end)
            come = self._at.get(position, 0)
            if kill or come:
                steps.append((index, ~kill, come))

    def _range(self, base: object, start: int, end: int | None) -> int:
        """Uses of the cells that lie in a range of a base; all of the base if there is no end."""
        graph = self.graph
        cells = graph.cells.get(base)  # type: ignore[call-overload]
        mask = 0
        if cells:
            for (offset, size), node in cells.items():
                if end is None or (start <= offset and offset + size <= end):
                    mask |= self._of_variable.get(node, 0)
        if end is None:
            rest = graph.variables.get(("any", base))  # type: ignore[arg-type]
            if rest is not None:
                mask |= self._of_variable.get(rest, 0)
        return mask

    def _solve(self) -> list[int]:
        cfg = self.cfg
        entry = [0] * len(cfg.successors)
        pending = list(cfg.order)
        queued = set(pending)
        while pending:
            block = pending.pop()
            queued.discard(block)
            live = self._back(block, self._exit(block, entry), -1)
            if live != entry[block]:
                entry[block] = live
                for source in cfg.predecessors[block]:
                    if source not in queued and cfg.reachable(source):
                        queued.add(source)
                        pending.append(source)
        return entry

    def _exit(self, block: int, entry: list[int]) -> int:
        live = 0
        edges, kills = self._on_edge, self._phi_kills
        for target in self.cfg.successors[block]:
            live |= (entry[target] & ~kills[target]) | edges.get((block, target), 0)
        return live

    def _back(self, block: int, live: int, down_to: int) -> int:
        for index, keep, come in self._steps[block]:
            if index <= down_to:
                break
            live = (live & keep) | come
        return live

    def after(self, block: int, index: int) -> int:
        """Uses ahead of the point after an instruction."""
        return self._back(block, self._exit(block, self.entry), index)

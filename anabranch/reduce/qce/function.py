"""One function's counts: its graph of dependences, path weights and exposure, put together at a location."""

from __future__ import annotations

from collections.abc import Callable
from math import ldexp

from anabranch.analysis.addresses import Addresses, Base
from anabranch.analysis.bits import ones_of
from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.loops import find_loops
from anabranch.analysis.tripcount import trip_count
from anabranch.ir.module import Function, Module
from anabranch.reduce.qce.counts import Cell, Counts, Location
from anabranch.reduce.qce.dependence import Graph
from anabranch.reduce.qce.flow import Exposure
from anabranch.reduce.qce.parameters import QceParameters
from anabranch.reduce.qce.scan import Callees, Scanner
from anabranch.reduce.qce.summaries import Summary, Variable
from anabranch.reduce.qce.weights import PathWeights, edge_weights

_BIG, _SHIFT, _DOWN = 2.0**300, 300, 2.0**-300
_NEGLIGIBLE = 1e-4
"""Counts below this part of alpha's share of the total are left out of summaries."""


class Shape:
    """What does not depend on the callees: the graph of blocks, its weights, the addresses."""

    def __init__(self, module: Module, function: Function, parameters: QceParameters) -> None:
        self.function = function
        self.cfg = build_cfg(function)
        forest = find_loops(self.cfg)
        edges = [edge_weights(block, parameters.beta) for block in function.blocks]
        trips: dict[int, int] = {}
        for header, loop in forest.loops.items():
            known = trip_count(function, self.cfg, loop, parameters.trip_limit)
            trips[header] = parameters.kappa if known is None else max(known, 1)
        self.weights = PathWeights(self.cfg, forest, edges, trips, parameters.loop_growth)
        self.addresses = Addresses(module, function, self.cfg.order)


class FunctionCounts:
    """Counts at any location of a function, given the summaries of its callees."""

    def __init__(
        self,
        module: Module,
        shape: Shape,
        callees: Callees,
        escapes: Callable[[Base], bool],
        parameters: QceParameters,
    ) -> None:
        self.shape = shape
        self.parameters = parameters
        self.graph = Graph(shape.function.local_count, shape.addresses, escapes)
        scanner = Scanner(module, shape.function, self.graph, callees, parameters)
        for block in shape.cfg.order:
            scanner.scan(shape.function.blocks[block])
        self.graph.add_exits()
        self.exposure = Exposure(shape.function, shape.cfg, self.graph)
        self.graph.link(self.exposure.nodes)
        self._names: dict[int, Variable] = {node: v for v, node in self.graph.variables.items()}
        self._bits: dict[int, tuple[int, ...]] = {}
        self._all = (1 << len(self.graph.queries)) - 1
        self._made: list[list[tuple[int, int, float, int]]] = [[] for _ in shape.function.blocks]
        for query in self.graph.queries.values():
            for block, index, number, exponent in query.made:
                self._made[block].append((index, query.bit, number, exponent))
        self._scaled = any(made[3] for block in self._made for made in block)

    def at(self, location: Location) -> Counts:
        exposure = self.exposure
        ahead = exposure.entry[location] if isinstance(location, int) else exposure.after(*location)
        values, exponent = self._values(location)
        total = sum(values)
        locals_: dict[int, float] = {}
        memory: dict[tuple[Base, int], float] = {}
        cells: dict[Base, list[Cell]] = {}
        any_offset: dict[Base, float] = {}
        extents: dict[Base | None, float] = {}
        heap = 0.0
        sums: dict[int, float] = {}
        for node, mask in exposure.queries(ahead).items():
            mask &= self._all
            count = sums.get(mask)
            if count is None:
                count = sums[mask] = sum(map(values.__getitem__, self._bits_of(mask)))
            if not count:
                continue
            variable = self._names.get(node, ("local", node))
            if variable[0] == "local":
                locals_[node] = count
            elif variable[0] == "cell":
                key = (variable[1], variable[2])
                memory[key] = max(memory.get(key, 0.0), count)
                cells.setdefault(variable[1], []).append((variable[2], variable[3], count))
            elif variable[0] == "any":
                any_offset[variable[1]] = count
            elif variable[0] == "extent":
                extents[variable[1]] = count
            else:
                heap = count
        for base in any_offset:
            known = {(offset, size) for offset, size, _ in cells.get(base, ())}
            dead = [(*cell, 0.0) for cell in self.graph.cells.get(base, ()) if cell not in known]
            if dead:
                cells.setdefault(base, []).extend(dead)
        self._add_aliases(locals_, memory, cells, any_offset, extents)
        return Counts(total, locals_, memory, cells, any_offset, extents, heap, exponent)

    def _bits_of(self, mask: int) -> tuple[int, ...]:
        found = self._bits.get(mask)
        if found is None:
            found = self._bits[mask] = tuple(ones_of(mask))
        return found

    def _values(self, location: Location) -> tuple[list[float], int]:
        """Expected number of each query from a location on, and their common exponent."""
        weights = self.shape.weights
        made = self._made
        if isinstance(location, int):
            visits = weights.from_entry(location)
            terms = [(v, m) for b, v in visits.blocks.items() for m in made[b]]
        else:
            block, index = location
            visits = weights.from_exit(block)
            terms = [(v, m) for b, v in visits.blocks.items() for m in made[b]]
            rest = 2.0**-visits.exponent
            terms.extend((rest, m) for m in made[block] if m[0] > index)
        values = [0.0] * len(self.graph.queries)
        exponent = 0
        if not self._scaled:
            for visit, (_, bit, number, _) in terms:
                values[bit] += visit * number
        else:
            exponent = max((m[3] for v, m in terms if v), default=0)
            for visit, (_, bit, number, power) in terms:
                values[bit] += ldexp(visit * number, max(power - exponent, -2000))
        exponent += visits.exponent
        while max(values, default=0.0) >= _BIG:
            values = [value * _DOWN for value in values]
            exponent += _SHIFT
        return values, exponent

    def _add_aliases(
        self,
        live: dict[int, float],
        memory: dict[tuple[Base, int], float],
        cells: dict[Base, list[Cell]],
        any_offset: dict[Base, float],
        extents: dict[Base | None, float],
    ) -> None:
        """Memory of a base that is no longer live, under the pointers into it that are."""
        definitions = self.shape.addresses.definitions
        for local in live:
            definition = definitions.get(local)
            if definition is None or definition.opcode != "getelementptr" or definition.result is None:
                continue
            pointees = self.shape.addresses.target(definition.result).pointees
            if not pointees or pointees[0][0][0] == "global" or pointees[0][0][1] in live:
                continue
            base, start = pointees[0]
            own: Base = ("pointer", local)
            rest = any_offset.get(base, 0.0)
            if start is None:
                rest = max([rest, *(count for _, _, count in cells.get(base, ()))])
            elif base in cells:
                moved = cells[own] = [(offset - start, size, count) for offset, size, count in cells[base]]
                for offset, _, count in moved:
                    if count:
                        memory[own, offset] = max(memory.get((own, offset), 0.0), count)
            if rest:
                any_offset[own] = rest
            if base in extents:
                extents[own] = extents[base]

    def summary(self) -> Summary:
        """The function as its callers see it."""
        values, exponent = self._values(0)
        least = sum(values) * min(1e-9, self.parameters.alpha * _NEGLIGIBLE)
        # Which entry variables each query, the result and each write depends on, as bits of their numbers.
        on_entry = {
            self._names.get(node, ("local", node)): mask
            for node, mask in self.exposure.queries(self.exposure.entry[0]).items()
        }
        variables = [v for v in on_entry if _outlives(v)]
        queries, graph = len(self.graph.queries), self.graph
        depends = [0] * (queries + 1 + len(graph.written))
        for number, variable in enumerate(variables):
            for bit in self._bits_of(on_entry[variable]):
                depends[bit] |= 1 << number
        grouped: dict[int, float] = {}
        for bit, value in enumerate(values):
            if value > least:
                grouped[depends[bit]] = grouped.get(depends[bit], 0.0) + value

        def named(mask: int) -> tuple[Variable, ...]:
            return tuple(variables[i] for i in ones_of(mask))

        numbers = {variable: number for number, variable in enumerate(variables)}
        writes: dict[int, list[Variable]] = {}
        for position, variable in enumerate(graph.written, queries + 1):
            # Every write also says that memory may keep what it has.
            mask = depends[position]
            if variable in numbers:
                mask &= ~(1 << numbers[variable])
            if mask:
                writes.setdefault(mask, []).append(variable)
        return Summary(
            tuple((named(mask), count) for mask, count in grouped.items()),
            exponent,
            named(depends[queries]),
            tuple((tuple(targets), named(mask)) for mask, targets in writes.items()),
        )


def _outlives(variable: Variable) -> bool:
    """At the function's entry: is it something its caller has?"""
    if variable[0] == "local" or variable[0] == "heap":
        return True
    return variable[1] is None or variable[1][0] in ("global", "argument")

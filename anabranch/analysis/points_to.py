"""What every pointer of a program may point to: Andersen's analysis on bit sets, blind to fields.

Cycles of copies are one node from the start; beyond that, sets only grow along edges, and only what is new
travels.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from anabranch.analysis.abstract_objects import AbstractObjects, environment_object
from anabranch.analysis.bits import ones_of
from anabranch.analysis.callgraph import CallGraph
from anabranch.analysis.components import strong_components
from anabranch.analysis.constraints import Constraints, Declared
from anabranch.analysis.effects import Effects, From, Inside, Other, Part, Static
from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import Local, Operand


class PointsTo:
    """Answers for operands; masks are over `objects`."""

    def __init__(
        self, graph: CallGraph, entries: Iterable[str], declared: Declared, replaced: Container[str] = ()
    ) -> None:
        """For the functions that `graph` reaches, of which the `entries` are started from outside. `declared`
        says what functions without a body do, and `replaced` are those whose body is not run."""
        self.graph = graph
        self._constraints = constraints = Constraints(graph, declared, replaced)
        self.objects: AbstractObjects = constraints.objects
        self._solver = _Solver(constraints)
        called: set[str] = set()
        new = {name for name in entries if constraints.has_body(name)}
        while new:
            for name in sorted(new):
                self._call_from_outside(constraints.module.functions[name])
            self._solver.solve()
            called |= new
            # Whoever is outside may call the functions that it has pointers to.
            symbols = (key[1] for key in self.objects.of(self.outside) if key[0] == "symbol")
            new = {name for name in symbols if name not in called and constraints.has_body(name)}

    def _call_from_outside(self, function: Function) -> None:
        """Somebody outside calls a function, with pointers that it has: `main`, or one given to `atexit`."""
        first = self._constraints.first[function.name]
        for parameter in function.params:
            self._solver.connect(self._constraints.outside, first + parameter.index)
        self._solver.connect(self._constraints.result(function), self._constraints.outside)

    def has_body(self, name: str) -> bool:
        """Is a function's own code run?"""
        return self._constraints.has_body(name)

    @property
    def outside(self) -> int:
        """All objects that an unknown function may have a pointer to."""
        return self._solver.set_of(self._constraints.outside)

    def of(self, function: Function, operand: Operand) -> int:
        """Objects that an operand may point into."""
        if isinstance(operand, Local):
            return self._solver.set_of(self._constraints.first[function.name] + operand.index)
        return self._constraints.constant(operand)

    def call_places(self, function: Function, call: Instruction, effects: Effects) -> int:
        """Objects that a declared call may write or end."""
        operands = call.operands[1:]
        mask = 0
        for place in (*effects.writes, *effects.ends):
            if isinstance(place, int):
                mask |= self.of(function, operands[place]) if place < len(operands) else 0
            elif isinstance(place, From):
                for operand in operands[place.argument :]:
                    mask |= self.of(function, operand)
            elif isinstance(place, Inside):
                if place.argument < len(operands):
                    mask |= self.inside(self.of(function, operands[place.argument]))
            elif isinstance(place, Part | Static):
                mask |= self.objects.bit(environment_object(place))
            elif place is Other.OUTSIDE:
                mask |= self.outside
        return mask

    def inside(self, mask: int) -> int:
        """Objects that pointers in these objects may point into."""
        found = 0
        for number in ones_of(mask):
            found |= self._solver.set_of(self._constraints.contents(number))
        return found


class _Solver:
    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints
        self.leader = self._leaders()
        size = constraints.count
        self.sets = [0] * size
        self.done = [0] * size
        self.copies: list[set[int]] = [set() for _ in range(size)]
        self.loads: list[list[int]] = [[] for _ in range(size)]
        self.stores: list[list[int]] = [[] for _ in range(size)]
        leader = self.leader
        for node, mask in constraints.holds.items():
            self.sets[leader[node]] |= mask
        for source, target in constraints.copies:
            if leader[source] != leader[target]:
                self.copies[leader[source]].add(leader[target])
        for pointer, target in constraints.loads:
            self.loads[leader[pointer]].append(leader[target])
        for source, pointer in constraints.stores:
            self.stores[leader[pointer]].append(leader[source])
        self.work = [node for node in range(size) if self.sets[node]]
        self.waiting = set(self.work)

    def _leaders(self) -> list[int]:
        """One node for those that copy to each other."""
        constraints = self.constraints
        targets: list[list[int]] = [[] for _ in range(constraints.count)]
        for source, target in constraints.copies:
            targets[source].append(target)
        leader = list(range(constraints.count))
        for members in strong_components(targets):
            for member in members:
                leader[member] = members[0]
        return leader

    def grow(self) -> None:
        """Nodes may have been added for contents."""
        missing = self.constraints.count - len(self.sets)
        if missing > 0:
            self.leader.extend(range(len(self.leader), len(self.leader) + missing))
            self.sets += [0] * missing
            self.done += [0] * missing
            self.copies += [set() for _ in range(missing)]
            self.loads += [[] for _ in range(missing)]
            self.stores += [[] for _ in range(missing)]

    def set_of(self, node: int) -> int:
        return self.sets[self.leader[node]] if node < len(self.leader) else 0

    def connect(self, source: int, target: int) -> None:
        """A copy that was found later."""
        self.grow()
        source, target = self.leader[source], self.leader[target]
        if target not in self.copies[source] and source != target:
            self.copies[source].add(target)
            self._add(target, self.sets[source])

    def _add(self, node: int, mask: int) -> None:
        if mask & ~self.sets[node]:
            self.sets[node] |= mask
            if node not in self.waiting:
                self.waiting.add(node)
                self.work.append(node)

    def solve(self) -> None:
        sets, done, copies, loads, stores = self.sets, self.done, self.copies, self.loads, self.stores
        work, waiting = self.work, self.waiting
        while work:
            node = work.pop()
            waiting.discard(node)
            now = sets[node]
            new = now & ~done[node]
            if not new:
                continue
            done[node] = now
            if loads[node] or stores[node]:
                for number in ones_of(new):
                    contents = self.constraints.contents(number)
                    if contents >= len(sets):
                        self.grow()
                    for target in loads[node]:
                        self.connect(contents, target)
                    for source in stores[node]:
                        self.connect(source, contents)
            for target in copies[node]:
                if new & ~sets[target]:
                    sets[target] |= new
                    if target not in waiting:
                        waiting.add(target)
                        work.append(target)

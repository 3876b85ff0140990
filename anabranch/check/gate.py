"""Structure-preserving symbolic execution of one function (Algorithm 1): its gated form.

One pass over the acyclic graph in reverse postorder. The condition of a node is relative to its immediate
dominator: the gating path expression, over all predecessors, of the way from the dominator to the
predecessor and the edge. It is `true` where the node is on every way on and no path ends between. The
value of a phi is a choice under these gates.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch.check.conditions import Condition
from anabranch.check.effects import Effects
from anabranch.check.events import Havoc
from anabranch.check.freeing import freed_condition
from anabranch.check.gating import GatingPath, gate_of
from anabranch.check.graph import DEAD, EXIT, AcyclicGraph, acyclic_graph
from anabranch.check.instructions import execute
from anabranch.check.leaves import Freed, Parameter, Undefined
from anabranch.check.loops import LoopWrites
from anabranch.check.memory import MemoryOf
from anabranch.check.requirements import MAX_DEPTH, MAX_USES, Requirement, split
from anabranch.expr import Expr, Value, bool_and, ite, not_
from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import PointerType, Type
from anabranch.ir.values import ConstInt, Local, Operand
from anabranch.semantics.elements import is_scalar
from anabranch.semantics.vectors import select_value

if TYPE_CHECKING:
    from anabranch.check.program import Program
    from anabranch.check.properties.base import Property
    from anabranch.check.summaries import Site


Fact = tuple[str, int]
"""A kind ("null": it is not NULL) and the number of the node that it is about."""


class FactsAt:
    """What is known at one moment of the execution of a node."""

    __slots__ = ("_known", "_moment")

    def __init__(self, known: dict[Fact, int]) -> None:
        self._known = known
        self._moment = len(known)

    def has(self, kind: str, about: Expr) -> bool:
        return self._known.get((kind, about.id), self._moment) < self._moment

    def all(self) -> list[Fact]:
        return [fact for fact, moment in self._known.items() if moment < self._moment]


class Gated:
    """The gated form of a function, and the effects that callers see."""

    def __init__(self, program: Program, function: Function) -> None:
        self.program = program
        self.function = function
        self.name = function.name
        self.graph: AcyclicGraph = acyclic_graph(function, program.settings.unroll)
        self.memory = MemoryOf(
            program.leaves,
            program.places,
            self.graph,
            self._initial_global,
            program.size_of,
            program.undefinedness,
            function.name,
        )
        count = len(self.graph.nodes)
        self.gate: list[Value] = [True] * count
        """Condition of a node relative to the end of its immediate dominator."""
        self.assume: list[Value] = [True] * count
        """What holds at the end of a node if it is passed: its calls came back."""
        self.dead: list[bool] = [False] * count
        self.edges: dict[tuple[int, int], Value] = {}
        self.effects = Effects(self)
        self.conditions: list[Condition] = []
        self.requirements: dict[Expr, Requirement] = {}
        """What callers must not pass, by leaf."""
        self.lifted: list[Condition] = []
        """Conditions about values of any kind, which are asked again in every caller."""
        self.too_far: set[object] = set()
        """Places of such conditions in callees that are too many calls away."""
        self.paths: dict[object, Condition] = {}
        """Conditions whose path is an effect that callers see, by label."""
        self._labels = 0
        self._uses = 0
        self.wild: list[tuple[int, Value]] = []
        """Nodes where anything may be written, with the condition inside the node."""
        self.null_places: list[tuple[int, DebugLoc]] = []
        """Nodes where the constant NULL is assigned or returned, with the place in the source."""
        self.memory_is_freed = False
        """Is there a call in the function, so far, that frees something?"""
        self.calls: list[Site] = []
        """Calls of functions with a summary."""
        self.blocks: dict[Expr, Site] = {}
        """Blocks that a callee allocated, and pointers to which were seen here."""
        self.current = 0
        self.tests: dict[Expr, list[tuple[int, DebugLoc | None]]] = {}
        """Where a pointer is compared with NULL."""
        self.facts: list[Set[Fact]] = [frozenset()] * count
        """For each node, what is known at its end."""
        self._now: dict[Fact, int] = {}
        """What is known on every way here, with the moment since when."""
        self.edge_facts: dict[tuple[int, int], set[Fact]] = {}
        self._relative: dict[tuple[int, int], Value] = {}
        self._single: dict[int, Value] = {}
        self._copied: dict[tuple[int, int], Value] = {}
        self._definitions: dict[int, Instruction] = {}
        self._copies: dict[int, set[int]] = {}
        self.results: dict[int, Value] = {}
        self._allocas: dict[int, Expr] = {}
        self._loops: LoopWrites | None = None
        self._firsts: dict[int, Expr] = {}
        self.returned_type: Type = function.type.ret

    # -- execution --------------------------------------------------------------------------------------

    def run(self) -> Gated:
        self.program.forget_constants()
        with self.program.leaves.within(self.name, "gate"):
            self._run()
        self.memory.complete = True
        return self

    def _run(self) -> None:
        function, graph = self.function, self.graph
        self._prepare()
        for node in graph.cfg.order:
            self.current = node
            self._enter(node)
            block = graph.nodes[node].block
            if block in (EXIT, DEAD):
                continue
            if self.dead[node]:
                self.facts[node] = self._now.keys()
                continue
            for instruction in function.blocks[block].instructions:
                execute(self, node, instruction)
                if self.assume[node] is False:
                    break
            self.facts[node] = self._now.keys()
        self.effects.collect()

    def _prepare(self) -> None:
        function = self.function
        for block in function.blocks:
            for instruction in block.instructions:
                if instruction.result is not None:
                    self._definitions[instruction.result.index] = instruction
        nodes_of: dict[int, set[int]] = {}
        for number, node in enumerate(self.graph.nodes):
            if self.graph.cfg.reachable(number):
                nodes_of.setdefault(node.block, set()).add(number)
        for block in function.blocks:
            copies = nodes_of.get(block.index, set())
            if len(copies) != 1:
                for instruction in block.instructions:
                    if instruction.result is not None:
                        self._copies[instruction.result.index] = copies
        for index, parameter in enumerate(function.params):
            self._single[parameter.index] = self._parameter(index, parameter.type)
        if self.program.settings.unroll is not None and self.graph.loops.loops:
            self.lose("a loop is assumed to end after the unrolled iterations", len(self.graph.loops.loops))
        if self.graph.irreducible:
            self.lose("a jump into a loop is not followed", self.graph.irreducible)
        self._loops = LoopWrites(self)
        for instruction in self._definitions.values():
            if instruction.opcode == "alloca" and instruction.result is not None:
                address = self.alloca(instruction)
                if self._loops.private(instruction.result.index):
                    self.memory.private.add(address)

    def _parameter(self, index: int, type: Type) -> Value:
        if not is_scalar(type):
            return self.program.unknown(type, "an aggregate parameter", None)
        pointer = isinstance(type, PointerType)
        return self.program.leaves.parameter(self.name, index, type.bits, pointer)

    def is_defined(self, index: int) -> bool:
        """Is a local the result of an instruction? Else it is a parameter."""
        return index in self._definitions

    def definition(self, index: int) -> Instruction:
        return self._definitions[index]

    def parameter_value(self, index: int) -> Value:
        return self._single[index]

    def parameter_index(self, base: Expr) -> int | None:
        """The number of the parameter that a variable is."""
        leaf = self.program.leaves.of(base)
        return leaf.index if isinstance(leaf, Parameter) else None

    def _initial_global(self, name: str, offset: int, width: int) -> Value | None:
        return self.program.initial_value(self.name, name, offset, width)

    def _enter(self, node: int) -> None:
        graph = self.graph
        top = graph.tree.parent[node]
        if top < 0:
            self._now = {}
            return
        sources = graph.predecessors(node)
        facts = [set(self.facts[s]) | self.edge_facts.get((s, node), set()) for s in sources]
        common = facts[0].intersection(*facts[1:])
        self._now = {fact: moment for moment, fact in enumerate(common)}
        if len(sources) == 1:
            self.gate[node] = self._edge(sources[0], node)
        else:
            join = self.memory.joins[node] = GatingPath(graph, node, self._edge)
            always = graph.post.dominates(node, top) and all(self.assume[n] is True for n in join.region)
            if always and join.reached:
                self.gate[node] = True
            else:
                self.gate[node] = gate_of(graph, node, join.region, self._edge, self.assume)
        self.dead[node] = self.gate[node] is False or self.dead[top] or self.assume[top] is False
        described = graph.nodes[node]
        if described.unknown_entry and not self.dead[node]:
            self._forget(node, described.block, described.first_possible)

    def _forget(self, node: int, header: int, first_possible: bool) -> None:
        """A header that stands for later iterations: what the loop writes is unknown."""
        assert self._loops is not None
        bases, everything = self._loops.of(header)
        if not bases and not everything:
            return
        condition: Value = not_(self.first_iteration(node)) if first_possible else True
        reason = "a later iteration of the loop"
        loc = self.function.blocks[header].instructions[-1].loc
        self.memory.append(node, Havoc(frozenset(bases), everything, condition, reason, loc))

    def first_iteration(self, node: int) -> Expr:
        found = self._firsts.get(node)
        if found is None:
            found = self._firsts[node] = self.program.leaves.unknown(1, "the first iteration")
        return found

    def _edge(self, source: int, target: int) -> Value:
        if self.dead[source] or self.assume[source] is False:
            return False
        return self.edges.get((source, target), True)

    def relative(self, node: int, top: int) -> Value:
        """The condition of the end of `node` relative to the end of its dominator `top`."""
        chain = []
        current = node
        while current != top and (current, top) not in self._relative:
            chain.append(current)
            current = self.graph.tree.parent[current]
        result: Value = True if current == top else self._relative[current, top]
        for member in reversed(chain):
            result = bool_and(bool_and(result, self.gate[member]), self.assume[member])
            self._relative[member, top] = result
        return result

    def path(self, node: int) -> tuple[Value, ...]:
        """The conditions under which a node is reached, as far as it has been executed; nearest first."""
        found: list[Value] = []
        while node >= 0:
            found += [c for c in (self.assume[node], self.gate[node]) if c is not True]
            node = self.graph.tree.parent[node]
        return tuple(found)

    # -- values -----------------------------------------------------------------------------------------

    def value(self, node: int, operand: Operand) -> Value:
        if operand.__class__ is Local:
            index = operand.index
            if index in self._copies:
                return self._of_copies(node, index)
            found = self._single.get(index)
            if found is None:  # of a node that is never reached
                found = self._single[index] = self._unreachable(index, operand.type)
            return found
        return self.program.constant(operand)

    def _unreachable(self, index: int, type: Type) -> Value:
        with self.program.leaves.within(self.name, "unreachable", index):
            return self.program.unknown(type, "unreachable code", None)

    def _of_copies(self, node: int, index: int) -> Value:
        """A value that is defined in several copies of a loop's body, where it is used."""
        start = node
        found = self._copied.get((node, index))
        if found is not None:
            return found
        definitions = self._copies[index]
        while True:
            found = self._copied.get((node, index))
            top = self.graph.tree.parent[node]
            if found is not None:
                break
            if top < 0:
                found = self._unreachable(index, self._definitions[index].type)
                break
            join = self.memory.joins[node]
            if join is None:
                node = self.graph.predecessors(node)[0]
            elif definitions.isdisjoint(join.region):
                node = top
            else:
                found = self.merge(
                    node, lambda source: self._of_copies(source, index), self._definitions[index].type
                )
                self._copied[node, index] = found
                break
        self._copied[start, index] = found
        return found

    def merge(self, node: int, value_of: Callable[[int], Value], type: Type) -> Value:
        """A gamma function: the values of the predecessors under the gates of the node."""
        join = self.memory.joins[node]
        if join is None or not join.reached:
            return value_of(self.graph.predecessors(node)[0])
        return join.choose(value_of, lambda c, a, b: self.choose(c, a, b, type))

    def choose(self, condition: Value, a: Value, b: Value, type: Type) -> Value:
        if is_scalar(type):
            return ite(condition, a, b, type.bits)
        return select_value(condition, a, b, type)

    def define(self, node: int, instruction: Instruction, value: Value) -> None:
        assert instruction.result is not None
        index = instruction.result.index
        if index in self._copies:
            self._copied[node, index] = value
        else:
            self._single[index] = value

    def alloca(self, instruction: Instruction) -> Expr:
        assert instruction.result is not None and isinstance(instruction.extra, Type)
        index = instruction.result.index
        found = self._allocas.get(index)
        if found is None:
            count = instruction.operands[0]
            size = instruction.extra.size * count.value if isinstance(count, ConstInt) else None
            variable = self.function.variables.get(index)
            name, loc = instruction.result.name, instruction.loc
            if variable is not None:
                start = self.function.subprogram
                name = variable.name
                loc = loc or DebugLoc(variable.file, variable.line, 0, "" if start is None else start.name)
            found = self._allocas[index] = self.program.leaves.local_object(name, size, loc)
        return found

    # -- conditions -------------------------------------------------------------------------------------

    def first_time(self, kind: str, about: Expr) -> bool:
        """Is this not yet known on every way here? It is from now on: a check that passed is assumed."""
        key = (kind, about.id)
        if key in self._now:
            return False
        self._now[key] = len(self._now)
        return True

    def learn(self, kind: str, about: Expr) -> None:
        self._now.setdefault((kind, about.id), len(self._now))

    def facts_now(self) -> FactsAt:
        return FactsAt(self._now)

    def condition(
        self,
        property: Property,
        node: int,
        bad: Value,
        loc: DebugLoc | None,
        message: str,
        key: object,
        evidence: object = None,
        kind: str = "",
    ) -> None:
        self.add(
            Condition(
                property, self, node, bad, self.path(node), loc, message, key, evidence=evidence, kind=kind
            )
        )

    def add(self, condition: Condition) -> None:
        """A condition is checked here; what only callers can make of it is left to them."""
        self._labels += 1
        condition.label = condition.label or self._labels
        here, before = split(self.program.summaries.origins, condition.bad)
        if here is not False:
            self.conditions.append(condition if here is condition.bad else replace(condition, bad=here))
        if before is not False:
            self._leave_to_callers(condition if before is condition.bad else replace(condition, bad=before))

    def _leave_to_callers(self, condition: Condition) -> None:
        """What only a caller can have freed, or never written. Farther calls and further places of one
        function are counted losses."""
        if condition.passing is not None and condition.passing[1].depth >= MAX_DEPTH:
            self.lose("uses through many calls of what a caller freed or never wrote")
            return
        for leaf in self.program.summaries.origins.of(condition.bad).in_order():
            if leaf not in self.requirements and isinstance(self.program.leaves.of(leaf), Freed | Undefined):
                self._uses += 1
                if self._uses > MAX_USES:
                    self.lose("uses of many pointers of what a caller freed or never wrote")
                    continue
            self.require(leaf, condition)

    def require(self, leaf: Expr, condition: Condition) -> None:
        """Callers must not make a leaf true, or a condition fails."""
        found = self.requirements.get(leaf)
        if found is None:
            found = self.requirements[leaf] = Requirement(leaf, condition.property)
        if condition.passing is None:
            found.conditions.append(condition)
        elif condition.passing not in found.passed_on:
            found.passed_on.append(condition.passing)
            found.depth = max(found.depth, condition.passing[1].depth + 1)

    def unreachable_condition(
        self, property: Property, node: int, loc: DebugLoc | None, message: str
    ) -> None:
        """The consequent is that the last gate before the place is closed."""
        path = self.path(node)
        bad = bool_and(self.gate[node], self.assume[node])
        rest = path[sum(c is not True for c in (self.gate[node], self.assume[node])) :]
        self.add(Condition(property, self, node, bad, rest, loc, message, None))

    def tested_near(self, pointer: Expr, node: int) -> bool:
        """Is a pointer compared with NULL on every way to the node, or on every way on from it?"""
        tree = self.graph.tree
        return any(
            tree.dominates(test, node) or tree.dominates(node, test)
            for test, _ in self.tests.get(pointer, ())
        )

    def lose(self, kind: str, count: int = 1) -> None:
        """An unsound choice was made."""
        self.program.losses[kind] += count

    # -- what properties are told ----------------------------------------------------------------------

    def give_up(self, node: int, instruction: Instruction, what: str) -> None:
        self.program.imprecise[what] += 1
        if instruction.result is not None:
            self.define(node, instruction, self.program.unknown(instruction.type, what, instruction.loc))

    def access(
        self, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        if any(self.program.is_operator(place.base) for place in self.program.places.of(address)):
            self.program.imprecise["a large summary is not opened at a dereference"] += 1
        for property in self.program.properties:
            property.access(self, node, address, size, instruction, what)

    def use(self, node: int, value: Value, instruction: Instruction, what: str) -> None:
        if value.__class__ is Expr:
            for property in self.program.properties:
                property.use(self, node, value, instruction, what)

    def freed(self, node: int, position: int, pointer: Value) -> Value:
        """The condition under which the object that a pointer leads to has been freed."""
        return freed_condition(self, node, position, pointer)

"""Structure-preserving symbolic execution of one function (Algorithm 1): its gated form.

One pass over the acyclic graph in reverse postorder. The condition of a node is relative to its immediate
dominator: the gating path expression, over all predecessors, of the way from the dominator to the
predecessor and the edge. It is `true` where the node is on every way on and no path ends between. The
value of a phi is a choice under these gates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anabranch.check.conditions import Call, Condition
from anabranch.check.freeing import Free, freed_condition
from anabranch.check.graph import DEAD, EXIT, AcyclicGraph, acyclic_graph
from anabranch.check.leaves import GlobalObject, LocalObject, Parameter
from anabranch.check.loops import LoopWrites
from anabranch.check.memory import GHOST, Event, Extent, Havoc, MemoryOf, Store, either
from anabranch.check.summaries import RETURNED, RETURNS, WRITES_ANYTHING, Effect, needed_leaves
from anabranch.expr import Expr, Value, bool_and, bool_or, eq, ite, ne, not_
from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import FloatType, IntType, PointerType, Type, VectorType
from anabranch.ir.values import ConstInt, Local, Null, Operand
from anabranch.semantics.elements import element_offsets, element_types, is_scalar
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.operations import OPERATIONS, updated
from anabranch.semantics.switches import in_case, switch_cases
from anabranch.semantics.vectors import select_value, vector_from_bits, vector_to_bits

if TYPE_CHECKING:
    from anabranch.check.program import Program
    from anabranch.check.properties.base import Property

POINTER = 64


class Gated:
    """The gated form of a function, and the effects that callers see."""

    def __init__(self, program: Program, function: Function) -> None:
        self.program = program
        self.function = function
        self.name = function.name
        self.graph: AcyclicGraph = acyclic_graph(function, program.settings.unroll)
        self.memory = MemoryOf(
            program.leaves, program.places, self.graph, self._initial_global, program.size_of
        )
        count = len(self.graph.nodes)
        self.gate: list[Value] = [True] * count
        """Condition of a node relative to the end of its immediate dominator."""
        self.assume: list[Value] = [True] * count
        """What holds at the end of a node if it is passed: its calls came back."""
        self.dead: list[bool] = [False] * count
        self.edges: dict[tuple[int, int], Value] = {}
        self.conditions: list[Condition] = []
        self.requirements: list[Condition] = []
        """Conditions that callers have to meet."""
        self.always_accessed: set[int] = set()
        """Parameters that every call dereferences: they are not NULL after the call."""
        self.always_freed: set[int] = set()
        """Parameters that every call frees."""
        self.frees: set[Expr] = set()
        """Bases of objects that callers may find freed."""
        self.wild: list[tuple[int, Value]] = []
        """Nodes where anything may be written, with the condition inside the node."""
        self.null_places: list[tuple[int, DebugLoc]] = []
        """Nodes where the constant NULL is assigned, passed or returned, with the place in the source."""
        self.memory_is_freed = False
        """Is there a call in the function, so far, that frees something?"""
        self.current = 0
        self._tests: dict[Expr, list[int]] = {}
        self._facts: list[frozenset[tuple[str, int]]] = [frozenset()] * count
        self._now: set[tuple[str, int]] = set()
        self._edge_facts: dict[tuple[int, int], set[tuple[str, int]]] = {}
        self._relative: dict[tuple[int, int], Value] = {}
        self._single: dict[int, Value] = {}
        self._copied: dict[tuple[int, int], Value] = {}
        self._definitions: dict[int, Instruction] = {}
        self._copies: dict[int, set[int]] = {}
        self._results: dict[int, Value] = {}
        self._allocas: dict[int, Expr] = {}
        self._effects: dict[Effect, Value] = {}
        self._operands: dict[Effect, tuple[int, ...] | None] = {}
        self._extents: dict[Expr, Extent] = {}
        self._loops: LoopWrites | None = None
        self._firsts: dict[int, Expr] = {}
        self.returned_type: Type = function.type.ret

    # -- execution --------------------------------------------------------------------------------------

    def run(self) -> Gated:
        function, graph = self.function, self.graph
        self._prepare()
        for node in graph.cfg.order:
            self.current = node
            self._enter(node)
            block = graph.nodes[node].block
            if block in (EXIT, DEAD):
                continue
            if self.dead[node]:
                self._facts[node] = frozenset(self._now)
                continue
            for instruction in function.blocks[block].instructions:
                self._execute(node, instruction)
                if self.assume[node] is False:
                    break
            self._facts[node] = frozenset(self._now)
        self._finish()
        return self

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
            self._now = set()
            return
        sources = graph.predecessors(node)
        facts: set[tuple[str, int]] | None = None
        for source in sources:
            known = self._facts[source] | self._edge_facts.get((source, node), set())
            facts = set(known) if facts is None else facts & known
        self._now = facts or set()
        if len(sources) == 1:
            self.gate[node] = self._edge(sources[0], node)
        else:
            ways = [
                (source, bool_and(self.relative(source, top), self._edge(source, node))) for source in sources
            ]
            self.memory.joins[node] = [way for way in ways if way[1] is not False] or ways[:1]
            always = graph.post.dominates(node, top) and all(
                self.assume[n] is True for n in graph.region(node)
            )
            self.gate[node] = True if always else either(condition for _, condition in ways)
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
        condition: Value = not_(self._first(node)) if first_possible else True
        reason = "a later iteration of the loop"
        loc = self.function.blocks[header].instructions[-1].loc
        self.memory.append(node, Havoc(frozenset(bases), everything, condition, reason, loc))

    def _first(self, node: int) -> Expr:
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
                found = self._single[index] = self.program.unknown(operand.type, "unreachable code", None)
            return found
        return self.program.constant(operand)

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
                found = self.program.unknown(self._definitions[index].type, "unreachable code", None)
                break
            join = self.memory.joins[node]
            if join is None:
                node = self.graph.predecessors(node)[0]
            elif definitions.isdisjoint(self.graph.region(node)):
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
        if join is None:
            return value_of(self.graph.predecessors(node)[0])
        result: Value = None
        for source, condition in reversed(join):
            value = value_of(source)
            result = value if result is None else self._choose(condition, value, result, type)
        return result

    def _choose(self, condition: Value, a: Value, b: Value, type: Type) -> Value:
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
            name = self.function.variable_names.get(index, "") or instruction.result.name
            found = self._allocas[index] = self.program.leaves.local_object(name, size, instruction.loc)
        return found

    # -- conditions -------------------------------------------------------------------------------------

    def first_time(self, kind: str, about: Expr) -> bool:
        """Is this not yet known on every way here? It is from now on: a check that passed is assumed."""
        key = (kind, about.id)
        if key in self._now:
            return False
        self._now.add(key)
        return True

    def learn(self, kind: str, about: Expr) -> None:
        self._now.add((kind, about.id))

    def condition(
        self,
        property: Property,
        node: int,
        bad: Value,
        loc: DebugLoc | None,
        message: str,
        key: object,
        evidence: object = None,
    ) -> None:
        self.conditions.append(
            Condition(property, self, node, bad, self.path(node), loc, message, key, evidence=evidence)
        )

    def unreachable_condition(
        self, property: Property, node: int, loc: DebugLoc | None, message: str
    ) -> None:
        """The consequent is that the last gate before the place is closed."""
        path = self.path(node)
        bad = bool_and(self.gate[node], self.assume[node])
        rest = path[sum(c is not True for c in (self.gate[node], self.assume[node])) :]
        self.conditions.append(Condition(property, self, node, bad, rest, loc, message, None))

    def tested_near(self, pointer: Expr, node: int) -> bool:
        """Is a pointer compared with NULL on every way to the node, or on every way on from it?"""
        tree = self.graph.tree
        return any(
            tree.dominates(test, node) or tree.dominates(node, test) for test in self._tests.get(pointer, ())
        )

    def lose(self, kind: str, count: int = 1) -> None:
        """An unsound choice was made."""
        self.program.losses[kind] += count

    # -- instructions -----------------------------------------------------------------------------------

    def _execute(self, node: int, instruction: Instruction) -> None:
        if instruction.opcode in ("phi", "store", "ret", "call"):
            self._note_nulls(node, instruction)
        handler = _HANDLERS.get(instruction.opcode)
        if handler is not None:
            handler(self, node, instruction)
        elif instruction.opcode in OPERATIONS:
            self._compute(node, instruction)
        elif instruction.result is not None:
            self.give_up(node, instruction, f"instruction {instruction.opcode}")

    def _note_nulls(self, node: int, instruction: Instruction) -> None:
        if instruction.opcode != "phi":
            if instruction.loc is not None and any(isinstance(o, Null) for o in instruction.operands):
                self.null_places.append((node, instruction.loc))
            return
        for operand, block in zip(instruction.operands, instruction.targets, strict=True):
            loc = self.function.blocks[block].instructions[-1].loc
            if isinstance(operand, Null) and loc is not None:
                for source in self.graph.predecessors(node):
                    if self.graph.nodes[source].block == block:
                        self.null_places.append((source, loc))

    def give_up(self, node: int, instruction: Instruction, what: str) -> None:
        self.program.imprecise[what] += 1
        if instruction.result is not None:
            self.define(node, instruction, self.program.unknown(instruction.type, what, instruction.loc))

    def _compute(self, node: int, instruction: Instruction) -> None:
        values = tuple(self.value(node, operand) for operand in instruction.operands)
        for property in self.program.properties:
            property.operation(self, node, instruction, values)
        try:
            result = OPERATIONS[instruction.opcode](instruction, *values)
        except Unsupported as problem:
            self.give_up(node, instruction, str(problem))
            return
        if instruction.opcode == "icmp":
            self._note_test(node, instruction, values)
        self.define(node, instruction, result)

    def _note_test(self, node: int, instruction: Instruction, values: tuple[Value, ...]) -> None:
        if not isinstance(instruction.operands[0].type, PointerType):
            return
        a, b = values
        if b.__class__ is int and b == 0 and a.__class__ is Expr and a.op == "var":
            self._tests.setdefault(a, []).append(node)

    def _phi(self, node: int, instruction: Instruction) -> None:
        type, described = instruction.type, self.graph.nodes[node]
        if described.unknown_entry and not described.first_possible:
            self.define(node, instruction, self._later(instruction))
            return
        incoming = dict(zip(instruction.targets, instruction.operands, strict=True))
        nodes = self.graph.nodes
        value = self.merge(node, lambda source: self.value(source, incoming[nodes[source].block]), type)
        if described.unknown_entry:
            value = self._choose(self._first(node), value, self._later(instruction), type)
        self.define(node, instruction, value)

    def _later(self, instruction: Instruction) -> Value:
        return self.program.unknown(instruction.type, "a later iteration of the loop", instruction.loc)

    def _alloca(self, node: int, instruction: Instruction) -> None:
        self.define(node, instruction, self.alloca(instruction))

    def access(
        self, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        for property in self.program.properties:
            property.access(self, node, address, size, instruction, what)

    def _load(self, node: int, instruction: Instruction) -> None:
        address = self.value(node, instruction.operands[0])
        self.access(node, address, (instruction.type.bits + 7) // 8, instruction, "read")
        self.define(node, instruction, self.load(node, address, instruction.type, instruction.loc))

    def load(self, node: int, address: Value, type: Type, loc: DebugLoc | None) -> Value:
        position = len(self.memory.events[node])
        if isinstance(type, IntType | PointerType | FloatType):
            return self.memory.read_places(node, position, self.program.places.of(address), type.bits, loc)
        if isinstance(type, VectorType):
            bits = (type.bits + 7) // 8 * 8
            whole = self.memory.read_places(node, position, self.program.places.of(address), bits, loc)
            return vector_from_bits(whole, bits, type)
        return tuple(
            self.load(node, self.program.shifted(address, start), part, loc)
            for start, part in zip(element_offsets(type), element_types(type), strict=True)
        )

    def _store(self, node: int, instruction: Instruction) -> None:
        value, address = (self.value(node, operand) for operand in instruction.operands)
        type = instruction.operands[0].type
        self.access(node, address, (type.bits + 7) // 8, instruction, "write")
        self.store(node, address, value, type, instruction.loc)

    def store(self, node: int, address: Value, value: Value, type: Type, loc: DebugLoc | None) -> None:
        if isinstance(type, VectorType):
            value = vector_to_bits(value, type)
        elif not is_scalar(type):
            for start, part, element in zip(element_offsets(type), element_types(type), value, strict=True):
                self.store(node, self.program.shifted(address, start), element, part, loc)
            return
        places = self.program.places.of(address)
        if any(
            place.base is None and (place.offset is None or place.offset.__class__ is Expr)
            for place in places
        ):
            self.lose("a store to an unknown address is left out")
        self.memory.append(node, Store(places, type.bits, value, loc))

    def _atomic(self, node: int, instruction: Instruction) -> None:
        """Without concurrency an atomic operation is a load and a store."""
        address = self.value(node, instruction.operands[0])
        if instruction.opcode == "atomicrmw":
            type = instruction.operands[1].type
            self.access(node, address, type.size, instruction, "write")
            old = self.load(node, address, type, instruction.loc)
            new = updated(str(instruction.extra), old, self.value(node, instruction.operands[1]), type.bits)
            self.define(node, instruction, old)
        else:
            type = instruction.operands[1].type
            self.access(node, address, type.size, instruction, "write")
            old = self.load(node, address, type, instruction.loc)
            same = eq(old, self.value(node, instruction.operands[1]), type.bits)
            new = ite(same, self.value(node, instruction.operands[2]), old, type.bits)
            self.define(node, instruction, (old, same))
        self.store(node, address, new, type, instruction.loc)

    def _branch(self, node: int, instruction: Instruction) -> None:
        if not instruction.operands or instruction.targets[0] == instruction.targets[1]:
            return
        condition = self.value(node, instruction.operands[0])
        self.use(node, condition, instruction, "branch on")
        yes, no = instruction.targets
        self._take(node, yes, condition)
        self._take(node, no, not_(condition))

    def use(self, node: int, value: Value, instruction: Instruction, what: str) -> None:
        if value.__class__ is Expr:
            for property in self.program.properties:
                property.use(self, node, value, instruction, what)

    def _take(self, node: int, block: int, condition: Value) -> None:
        target = self.graph.targets[node].get(block)
        if target is None:
            self._take_dead(node, condition)
            return
        before = self.edges.get((node, target))
        self.edges[node, target] = condition if before is None else bool_or(before, condition)
        facts = set(_not_null(condition))
        known = self._edge_facts.get((node, target))
        self._edge_facts[node, target] = facts if known is None else known & facts

    def _take_dead(self, node: int, condition: Value) -> None:
        edge = (node, self.graph.dead)
        self.edges[edge] = bool_or(self.edges.get(edge, False), condition)

    def _switch(self, node: int, instruction: Instruction) -> None:
        value = self.value(node, instruction.operands[0])
        self.use(node, value, instruction, "switch on")
        cases, default = switch_cases(instruction)
        width = instruction.operands[0].type.bits
        none: Value = True
        for case in cases:
            condition = in_case(value, case, width)
            self._take(node, case.target, condition)
            none = bool_and(none, not_(condition))
        self._take(node, default, none)

    def _jump(self, node: int, instruction: Instruction) -> None:
        """A jump whose target is not known: any of them."""
        self.program.imprecise[f"instruction {instruction.opcode}"] += 1
        if instruction.result is not None:
            self.give_up(node, instruction, f"instruction {instruction.opcode}")
        targets = list(dict.fromkeys(instruction.targets))
        rest: Value = True
        for target in targets[:-1]:
            which = self.program.leaves.unknown(1, "where a jump leads")
            self._take(node, target, bool_and(rest, which))
            rest = bool_and(rest, not_(which))
        if targets:
            self._take(node, targets[-1], rest)

    def _return(self, node: int, instruction: Instruction) -> None:
        if instruction.operands:
            self._results[node] = self.value(node, instruction.operands[0])

    def _call(self, node: int, instruction: Instruction) -> None:
        self.program.calls.execute(self, node, instruction)
        if instruction.targets:
            self._jump_after_call(node, instruction)

    def _jump_after_call(self, node: int, instruction: Instruction) -> None:
        """invoke, callbr: exceptions and jumps out of assembly are not followed."""
        self.lose("an exception is not followed")
        self._take(node, instruction.targets[0], True)
        for target in instruction.targets[1:]:
            self._take(node, target, False)

    # -- effects ----------------------------------------------------------------------------------------

    def _finish(self) -> None:
        self._count_aliasing()
        for node in self.graph.cfg.order:
            if not self.dead[node]:
                for event in self.memory.events[node]:
                    self._collect(event)
        # Parameters that were dereferenced on every way to the return.
        exit_ = self.graph.exit
        if self.graph.cfg.reachable(exit_):
            facts: set[tuple[str, int]] | None = None
            for source in self.graph.predecessors(exit_):
                facts = set(self._facts[source]) if facts is None else facts & self._facts[source]
            for parameter in self.function.params:
                value = self._single[parameter.index]
                if value.__class__ is Expr and ("access", value.id) in (facts or ()):
                    self.always_accessed.add(parameter.index)
                if value.__class__ is Expr and ("freed", value.id) in (facts or ()):
                    self.always_freed.add(parameter.index)

    def _collect(self, event: Event) -> None:
        from anabranch.check.calls import CallEvent

        if isinstance(event, Store):
            for place in event.places:
                if place.base is not None:
                    self._write(place.base, place.offset, (event.width + 7) // 8)
        elif isinstance(event, CallEvent):
            for base, mapped in event.table.items():
                for part in mapped:
                    if part.extent is None or part.offset.__class__ is Expr:
                        self._extents[base] = None
                    else:
                        for start, size in part.extent:
                            self._write(base, start + part.offset, size)
            self.frees.update(event.freed)
        elif isinstance(event, Free):
            self.frees.update(event.bases())
        else:
            for base in event.bases():
                self._extents[base] = None

    def _write(self, base: Expr, offset: Value, size: int) -> None:
        extent = self._extents.setdefault(base, set())
        if extent is not None:
            if offset.__class__ is Expr or len(extent) > 256:
                self._extents[base] = None
            else:
                extent.add((offset & ((1 << 64) - 1), size))

    def written(self) -> dict[Expr, Extent]:
        """What callers may see change: visible memory, and blocks that the function allocated."""
        leaves = self.program.leaves
        return {
            base: extent
            for base, extent in self._extents.items()
            if leaves.visible(base.a) or _is_heap(leaves.of(base))
        }

    @property
    def returns(self) -> bool:
        """Can a call come back?"""
        exit_ = self.graph.exit
        return self.graph.cfg.reachable(exit_) and not self.dead[exit_]

    def effect(self, effect: Effect) -> Value:
        """The expression of one effect, in terms of the function's own leaves."""
        found = self._effects.get(effect)
        if found is None:
            found = self._effects[effect] = self._effect(effect)
        return found

    def _effect(self, effect: Effect) -> Value:
        exit_ = self.graph.exit
        if effect == RETURNED:
            results = self._results
            return self.merge(
                exit_, lambda source: results.get(source, self._no_result(source)), self.returned_type
            )
        if effect == RETURNS:
            return bool_and(self.relative(exit_, 0), self.assume[0]) if self.returns else False
        if effect == WRITES_ANYTHING:
            return either(
                bool_and(bool_and(self.relative(node, 0), self.assume[0]), condition)
                for node, condition in self.wild
            )
        if effect[0] == "memory":
            _, base, offset, width = effect
            assert isinstance(base, Expr) and isinstance(width, int)
            return self.memory.read(exit_, 0, base, offset, width)
        if effect[0] == "null":
            inner = effect[1]
            assert isinstance(inner, tuple)
            return self.program.nullness(self.effect(inner))
        if effect[0] == "freed":
            base = effect[1]
            assert isinstance(base, Expr)
            return ne(self.memory.read(exit_, 0, base, GHOST, 8), 0, 8)
        assert effect[0] == "path" and isinstance(effect[1], int)
        return self.requirements[effect[1]].path()

    def _no_result(self, source: int) -> Value:
        return self.program.unknown(self.returned_type, "unreachable code", None)

    def operands(self, effect: Effect) -> tuple[int, ...] | None:
        """The leaves that decide an effect, if it is deterministic."""
        if effect not in self._operands:
            self._operands[effect] = needed_leaves(self.program.leaves, self.effect(effect))
        return self._operands[effect]

    def freed(self, node: int, position: int, pointer: Value) -> Value:
        """The condition under which the object that a pointer leads to has been freed."""
        return freed_condition(self, node, position, pointer)

    def lifted(self, caller: str, requirement: Condition, loc: DebugLoc | None) -> tuple[Call, ...]:
        return (Call(caller, self.name, loc), *requirement.calls)

    def _count_aliasing(self) -> None:
        """Terminal pointers are assumed not to alias: count where one that may is written."""
        leaves, memory = self.program.leaves, self.memory
        written = set().union(*memory.written) if memory.written else set()
        open_written = [b for b in written if self._may_alias(b)]
        if not open_written:
            return
        others = [
            b
            for b in memory.accessed | written
            if self._may_alias(b) or isinstance(leaves.of(b), GlobalObject)
        ]
        if len(others) > 1:
            self.lose("pointers are assumed not to alias")

    def _may_alias(self, base: Expr) -> bool:
        leaf = self.program.leaves.of(base)
        if isinstance(leaf, Parameter) and leaf.function == self.name:
            attributes = self.function.param_attrs[leaf.index]
            if attributes is not None and (attributes.byval or attributes.sret):
                return False  # an object that the compiler made for this call
        return not isinstance(leaf, GlobalObject | LocalObject)


def _is_heap(leaf: object) -> bool:
    return isinstance(leaf, LocalObject) and leaf.heap


def _not_null(condition: Value) -> list[tuple[str, int]]:
    """Pointers that a branch has shown not to be NULL."""
    found = []
    stack = [condition]
    while stack:
        current = stack.pop()
        if current.__class__ is not Expr:
            continue
        if current.op == "and" and current.w == 1:
            stack += [current.a, current.b]
        elif current.op == "not" and current.a.op == "eq" and current.a.a.w == POINTER:
            zero = current.a.b.__class__ is int and current.a.b == 0
            found += [("null", current.a.a.id)] if zero else []
    return found


_HANDLERS: dict[str, Callable[[Gated, int, Instruction], None]] = {
    "phi": Gated._phi,
    "alloca": Gated._alloca,
    "load": Gated._load,
    "store": Gated._store,
    "br": Gated._branch,
    "switch": Gated._switch,
    "ret": Gated._return,
    "call": Gated._call,
    "invoke": Gated._call,
    "callbr": Gated._call,
    "indirectbr": Gated._jump,
    "atomicrmw": Gated._atomic,
    "cmpxchg": Gated._atomic,
    "unreachable": lambda gated, node, instruction: None,
    "fence": lambda gated, node, instruction: None,
}

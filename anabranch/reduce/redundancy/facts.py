"""What slicing needs to know of the program: by function, and of the objects that code may write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

from anabranch.analysis.abstract_objects import OUTSIDE
from anabranch.analysis.bits import ones_of
from anabranch.analysis.callgraph import CallGraph, CallSite, build_call_graph
from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.loops import LoopForest, find_loops
from anabranch.analysis.may_write import MayWrite
from anabranch.analysis.points_to import PointsTo
from anabranch.analysis.regions import ControlRegions, control_regions
from anabranch.analysis.returning import Returning
from anabranch.analysis.written_places import Written, WrittenPlaces
from anabranch.environment.effects import CallEffects
from anabranch.environment.registry import OVERRIDES
from anabranch.explore.build import Parts
from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import GlobalRef, Local, Operand
from anabranch.machine.objects import STACK_NUMBERS
from anabranch.machine.static_objects import StaticObjects
from anabranch.machine.tape import Tape, address_operand
from anabranch.machine.translator.plan import static_size
from anabranch.machine.translator.unit import Unit

Places: TypeAlias = tuple[tuple[int, int], ...]
"""Number of a page of memory, and a mask of its bytes."""
PAGE_BITS = 8
PAGE_SIZE = 1 << PAGE_BITS
EVERYTHING = -1
"""The mask of all static objects."""
EVERYTHING_KEPT = "everything"
"""The kind of the one part that stands for all that models keep."""
BRANCHES = frozenset(("br", "switch", "indirectbr"))


class ProgramFacts:
    """Static facts of one program."""

    def __init__(self, parts: Parts, tape: Tape) -> None:
        module = parts.program.module
        self._sites = tape.sites
        self.memory = parts.machine.memory
        self.graph: CallGraph = build_call_graph(module, [parts.program.entry])
        self.returning = Returning(self.graph, OVERRIDES)
        effects = CallEffects(self.graph)
        self.points_to = PointsTo(self.graph, [parts.program.entry], effects, OVERRIDES)
        self.may_write = MayWrite(self.points_to, effects)
        self.written_places = WrittenPlaces(self.may_write)
        self.address = parts.machine.namespace.layout.address
        self.objects = StaticObjects(self.memory, self.points_to.objects)
        self.constant_pages = self.memory.constant_pages
        self._regions: dict[str, ControlRegions] = {}
        self._masks: dict[int, int] = {}
        self._loops: dict[str, LoopForest] = {}

    def loop_heads(self, function: Function, block: int) -> Sequence[int]:
        """The heads of the loops around a block."""
        forest = self._loops.get(function.name)
        if forest is None:
            forest = self._loops[function.name] = find_loops(build_cfg(function))
        return [head for head, loop in forest.loops.items() if block in loop.blocks]

    def regions(self, function: Function) -> ControlRegions:
        found = self._regions.get(function.name)
        if found is None:
            found = self._regions[function.name] = control_regions(function, self.returning)
        return found

    def callees(self, site: CallSite) -> Sequence[str]:
        """The functions that a call may reach, by what its pointer may lead to."""
        if not site.indirect:
            return site.callees
        function = self.graph.module.functions[site.caller]
        pointer = function.blocks[site.block].instructions[site.index].operands[0]
        objects, mask = self.points_to.objects, self.points_to.of(function, pointer)
        if mask & objects.known(OUTSIDE):
            mask |= self.points_to.outside
        return [name for name in site.callees if objects.known(("symbol", name)) & mask]

    def placed(self, written: Written) -> tuple[int, Places]:
        """What may be written, with the addresses of places."""
        masks: dict[int, int] = {}
        for name, offset, size in written.places:
            first = self.address(name) + offset
            for address in range(first, first + size):
                page = address >> PAGE_BITS
                masks[page] = masks.get(page, 0) | 1 << (address & PAGE_SIZE - 1)
        return written.objects, tuple(sorted(masks.items()))

    def mask(self, number: int) -> int:
        """The static objects that an object of a run is."""
        found = self._masks.get(number)
        if found is None:
            site = self.memory.numbers.local_site(number) if number >= STACK_NUMBERS else None
            site = site or self._sites.get(number)
            if site is None:
                return EVERYTHING
            found = self._masks[number] = self.objects.mask_of(site.origin)
        return found

    def mask_of_part(self, part: tuple[str, Any]) -> int:
        """The static objects that a part of what models keep is, or whether an object is alive."""
        kind, which = part
        if kind == "object":
            return self.mask(which)
        if kind == EVERYTHING_KEPT:
            objects = self.points_to.objects
            kept = sum(objects.bit(key) for key in list(objects.keys) if key[0] in ("kernel", "static"))
            return kept | self.objects.unknown
        return self.objects.mask_of(("static", which) if kind == "static" else ("kernel", kind))


class FunctionFacts:
    """One translated function: what its branches decide about, and which registers its values are in. A
    register is a bit, a mask of blocks has one for each block."""

    def __init__(self, unit: Unit, program: ProgramFacts) -> None:
        self.unit = unit
        self.plan = plan = unit.plan
        self.function = function = unit.function
        self.program = program
        self.may_fail = frozenset[tuple[int, int]]()
        """Instructions whose operands are always relevant: errors at these places are not to be missed."""
        self.aims = 0
        """Blocks that are goals, or call functions that have some."""
        self.goal = 0
        """Branches that decide whether one of these is reached."""
        regions = program.regions(function)
        self.controlled = regions.controlled
        self._between = regions.between
        self._may_write: dict[int, tuple[int, Places]] = {}
        self._calls: dict[tuple[int, int], int] = {}
        self._edges: dict[tuple[int, int], list[tuple[int, int, bool]]] = {}
        defined = [0] * len(plan.blocks)
        for block in plan.blocks:
            for instruction in block.instructions:
                if instruction.result is not None:
                    defined[block.index] |= 1 << instruction.result.index
        self.conditions: list[int | None] = []
        """By block: the registers that its branch depends on; None if it is none."""
        self.defines: list[int] = []
        """By block: the registers that are written in what its branch decides about."""
        for block in plan.blocks:
            last = block.instructions[-1]
            branches = last.opcode in BRANCHES and len(set(last.targets)) > 1
            self.conditions.append(self.registers(last.operands[0]) if branches else None)
            mask = 0
            if branches:
                for inner in ones_of(self._between[block.index]):
                    mask |= defined[inner]
            self.defines.append(mask)

    def registers(self, operand: Operand) -> int:
        """The kept registers that a value is read from."""
        if not isinstance(operand, Local):
            return 0
        plan = self.plan
        index = plan.index_of(operand)
        if index not in plan.virtual:
            return 1 << index
        mask = 0
        for inner in plan.definition[index][1].operands:
            mask |= self.registers(inner)
        return mask

    def operands(self, operands: Sequence[Operand]) -> int:
        mask = 0
        for operand in operands:
            mask |= self.registers(operand)
        return mask

    def edge(self, source: int, target: int) -> list[tuple[int, int, bool]]:
        """The phis of an edge: register, registers of the value, does the value depend on the edge?"""
        found = self._edges.get((source, target))
        if found is None:
            found = self._edges[source, target] = []
            for local, value in self.plan.incoming(source, target):
                phi = self.plan.definition[local.index][1]
                differs = any(not same_operand(other, phi.operands[0]) for other in phi.operands)
                found.append((1 << local.index, self.registers(value), differs))
        return found

    def may_write(self, block: int) -> tuple[int, Places]:
        """What may be written in what a branch decides about: objects, and bytes of others."""
        found = self._may_write.get(block)
        if found is None:
            written = self.program.written_places.region(self.function, self._between[block])
            found = self._may_write[block] = self.program.placed(written)
        return found

    @cached_property
    def call_may_write(self) -> tuple[int, Places]:
        """The same, in a call of the function."""
        return self.program.placed(self.program.written_places.function(self.function.name))

    def may_write_at(self, block: int, position: int) -> int:
        """The objects that a call may write."""
        found = self._calls.get((block, position))
        if found is None:
            found = self.program.may_write.instruction(self.function, block, position)
            self._calls[block, position] = found
        return found

    def pointed(self, pointer: Operand) -> int:
        """The objects that a pointer may lead to; 0 if its value is the same wherever the frame runs."""
        return 0 if self._is_fixed(pointer) else self.program.points_to.of(self.function, pointer)

    def is_inside(self, access: Instruction) -> bool:
        """Does a load or store always lie within a variable, at a constant offset?"""
        pointer, offset = address_operand(access), 0
        size = (access.operands[0] if access.opcode == "store" else access).type.size
        writes = access.opcode != "load"
        if isinstance(pointer, Local):
            found = self.plan.definition.get(self.plan.index_of(pointer))
            if found is None or found[1].opcode != "alloca" or not self.plan.is_static_alloca(*found):
                return False
            return offset + size <= static_size(found[1]) and not self.plan.scopes.late
        if not isinstance(pointer, GlobalRef):
            return False
        variable = self.program.graph.module.globals.get(pointer.name)
        return (
            variable is not None and not (writes and variable.constant) and size <= variable.value_type.size
        )

    def _is_fixed(self, pointer: Operand) -> bool:
        while isinstance(pointer, Local):
            found = self.plan.definition.get(self.plan.index_of(pointer))
            if found is None:
                return False
            block, instruction = found
            if instruction.opcode == "alloca":
                return self.plan.is_static_alloca(block, instruction)
            if instruction.opcode not in ("getelementptr", "bitcast"):
                return False
            if any(isinstance(operand, Local) for operand in instruction.operands[1:]):
                return False
            pointer = instruction.operands[0]
        return True


def same_operand(a: Operand, b: Operand) -> bool:
    if a is b:
        return True
    if isinstance(a, Local) and isinstance(b, Local):
        return a.index == b.index
    if isinstance(a, GlobalRef) and isinstance(b, GlobalRef):
        return a.name == b.name
    return False

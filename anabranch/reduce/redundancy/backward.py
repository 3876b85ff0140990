"""Generates a Python function for a segment, which goes over it backwards.

The function is given the innermost frame, the relevant locations and the item of the tape, and does what
3.2.2 of the paper says for each instruction, last to first:

- an instruction whose result is relevant makes its operands relevant instead; a load also what it has read;
- a store to a relevant location makes that irrelevant, and its operands and whatever decides that it runs
  relevant;
- a store that hits nothing relevant, but might if its pointer were another one, makes its pointer relevant;
- at the head of the block, the phis of the edge and the branch that the path came by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from anabranch.ir.types import FloatType, IntType, PointerType, Type
from anabranch.ir.values import Local
from anabranch.machine.tape import ACCESSES, PLAIN, Segment, address_operand, kind_of
from anabranch.reduce.redundancy.facts import FunctionFacts
from anabranch.reduce.redundancy.live import Frame, Live

Backward: TypeAlias = Callable[[Frame, Live, Any, Any], None]
"""`(frame, relevant locations, item of the tape, objects touched at symbolic addresses)`"""
INSIDE = -1
"""As the block before a segment: the function does not go beyond the head."""


def result_of_call(segment: Segment) -> int:
    """The register that a segment behind a call finds the result in; 0 if there is none."""
    return 0 if segment.result is None else 1 << segment.result


def backward(facts: FunctionFacts, segment: Segment, before: int = INSIDE) -> Backward:
    """The function for a segment, with the edge from the block `before` it."""
    found: Backward | None = segment.steps.get(before)
    if found is None:
        found = segment.steps[before] = _Generator(facts, segment).function(before)
    return found


class _Generator:
    def __init__(self, facts: FunctionFacts, segment: Segment) -> None:
        self.facts = facts
        self.segment = segment
        self.lines: list[str] = []
        self.bit = 1 << segment.block
        self.places = {register: position for position, register in enumerate(segment.addresses, 1)}

    def line(self, indent: int, text: str) -> None:
        self.lines.append(" " * indent + text)

    def function(self, before: int) -> Backward:
        instructions = self.facts.plan.blocks[self.segment.block].instructions
        for position in range(self.segment.end - 1, self.segment.start - 1, -1):
            instruction = instructions[position]
            if instruction.opcode == "phi" or self.facts.plan.is_virtual(instruction):
                continue
            if kind_of(self.segment.unit.program, instruction) == PLAIN:
                self._instruction(instruction)
                if (self.segment.block, position) in self.facts.may_fail:
                    self._failure(instruction)
        if before != INSIDE:
            self._edge(before)
        text = "def step(F, L, e, X):\n m = F.registers\n" + "\n".join(self.lines) + "\n F.registers = m\n"
        scope: dict[str, Any] = {}
        exec(text, {"facts": self.facts}, scope)
        made: Backward = scope["step"]
        return made

    def _instruction(self, instruction: Any) -> None:
        opcode = instruction.opcode
        result = 1 << instruction.result.index if instruction.result is not None else 0
        operands = self.facts.operands(instruction.operands)
        if opcode not in ACCESSES:
            if result:
                self.line(1, f"if m & {result}: m = m & {~result} | {operands}")
            return
        pointer = address_operand(instruction)
        address = self._address(pointer)
        type = instruction.operands[0].type if opcode == "store" else instruction.type
        if opcode in ("cmpxchg", "atomicrmw"):
            type = instruction.operands[1].type
        if opcode == "load":
            self.line(1, f"if m & {result}:")
            self.line(2, f"m = m & {~result} | {operands}; L.add({address}, {type.size}, X)")
            return
        size = stored_size(type)
        relevant = f"F.needed |= {self.bit}; F.matters = True"
        if opcode == "store":
            page = f"{address} >> 8"
            last = f"{address} + {size - 1} >> 8"
            if size:
                pages = f"{page} in L.pages" if size == 1 else f"({page} in L.pages or {last} in L.pages)"
                hit = f"({address}.__class__ is not int or {pages}) and L.written({address}, {size}, X)"
                self.line(1, f"if {hit}:" if address[0] == "e" else f"if L.written({address}, {size}):")
            else:  # not all of the bytes that it has are written
                self.line(1, f"if L.copy().written({address}, {type.size}, X):")
            self.line(2, f"m |= {operands}; {relevant}")
            pointed = self.facts.pointed(pointer)
            if pointed:
                self.line(1, f"elif L.objects & {pointed}: m |= {self.facts.registers(pointer)}")
            return
        self.line(1, f"if L.written({address}, {size}, X) or m & {result}:")
        self.line(2, f"m = m & {~result} | {operands}; {relevant}; L.add({address}, {size}, X)")
        pointed = self.facts.pointed(pointer)
        if pointed:
            self.line(1, f"elif L.objects & {pointed}: m |= {self.facts.registers(pointer)}")

    def _failure(self, instruction: Any) -> None:
        """It is relevant whether an instruction fails."""
        operands = self.facts.operands(instruction.operands)
        self.line(1, f"m |= {operands}; F.needed |= {self.bit}; F.matters = True")
        if instruction.opcode in ACCESSES:
            self.line(1, f"L.add_object({self._address(address_operand(instruction))}, X)")

    def _address(self, pointer: Any) -> str:
        if isinstance(pointer, Local):
            return f"e[{self.places[self.facts.plan.index_of(pointer)]}]"
        return str(self.segment.unit.program.namespace.layout.value(pointer))

    def _edge(self, before: int) -> None:
        """The phis of an edge, and the branch at its source."""
        phis = self.facts.edge(before, self.segment.block)
        differing = sum(register for register, _, differs in phis if differs)
        if phis:
            every = sum(register for register, _, _ in phis)
            self.line(1, f"p = m & {every}")
            self.line(1, "if p:")
            self.line(2, f"m &= {~every}")
            for register, value, _ in phis:
                if value:
                    self.line(2, f"if p & {register}: m |= {value}")
        by_edge = f"p & {differing}" if differing else "0"
        condition = self.facts.conditions[before]
        if condition is None:
            if differing:
                self.line(1, f"if {by_edge}: F.needed |= {1 << before}; F.matters = True")
            return
        controlled, defines = self.facts.controlled[before], self.facts.defines[before]
        tests = [f"F.needed & {controlled}", f"facts.goal & {1 << before}"]
        if differing:
            tests.append(by_edge)
        if defines:
            tests.append(f"m & {defines}")
        objects, places = self.facts.may_write(before)
        if objects:
            tests.append(f"L.objects & {objects}")
        if places:
            tests.append(f"L.meets({places})")
        self.line(1, f"if {' or '.join(tests)}:")
        self.line(
            2, f"F.needed = F.needed & {~controlled} | {1 << before}; F.matters = True; m |= {condition}"
        )


def stored_size(type: Type) -> int:
    """How many bytes a store writes; 0 if not all of those that the type takes."""
    if isinstance(type, IntType | FloatType | PointerType):
        return (type.bits + 7) // 8
    return 0


def cross_edge(facts: FunctionFacts, frame: Frame, live: Live, before: int, block: int) -> bool:
    """The phis of an edge, going backwards: is it relevant which edge was taken?"""
    registers, by_edge = frame.registers, False
    new = registers
    phis = facts.edge(before, block)
    for register, _, _ in phis:
        new &= ~register
    for register, value, differs in phis:
        if registers & register:
            new |= value
            by_edge = by_edge or differs
    frame.registers = new
    return by_edge


def take_branch(facts: FunctionFacts, frame: Frame, live: Live, block: int, by_edge: bool) -> None:
    """The branch at the end of a block, going backwards from one of its sides."""
    condition = facts.conditions[block]
    if condition is None:
        if by_edge:
            frame.needed |= 1 << block
            frame.matters = True
        return
    objects, places = facts.may_write(block)
    if (
        by_edge
        or frame.needed & facts.controlled[block]
        or facts.goal >> block & 1
        or frame.registers & facts.defines[block]
        or live.objects & objects
        or live.meets(places)
    ):
        frame.needed = frame.needed & ~facts.controlled[block] | 1 << block
        frame.matters = True
        frame.registers |= condition

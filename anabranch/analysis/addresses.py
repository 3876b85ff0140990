"""What an address points into: a named base and a constant or unknown offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anabranch.analysis.callgraph import resolve_alias
from anabranch.ir.indexing import constant_offset
from anabranch.ir.module import Function, Instruction, Module
from anabranch.ir.types import Type
from anabranch.ir.values import ConstExpr, GlobalRef, Local, Operand

Base = tuple[Literal["global"], str] | tuple[Literal["alloca", "argument", "pointer"], int]
"""A global by name, or a local of the function by index: an alloca, an argument, any other pointer."""

Pointee = tuple[Base, int | None]
"""A base and an offset in bytes from where it points; None if the offset is not constant."""

_MAX_ROOTS = 8
_STEPS = frozenset(("bitcast", "addrspacecast", "freeze", "getelementptr"))
"""Instructions whose result points into what their first operand points into."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an address may point to. The first is the address's own base; the others are what that base may
    be one of (it is a phi or a select). `heap`: it may also lie where no base of the function leads."""

    pointees: tuple[Pointee, ...]
    heap: bool

    @property
    def static(self) -> bool:
        """The same address on every path: nothing to ask a solver for."""
        return not self.heap and all(
            base[0] in ("global", "alloca") and offset is not None for base, offset in self.pointees
        )


NOWHERE = Target((), False)


def _step(instruction: Instruction) -> int | None:
    """The bytes that one of `_STEPS` adds to its operand."""
    if instruction.opcode != "getelementptr":
        return 0
    assert isinstance(instruction.extra, Type)
    return constant_offset(instruction.extra, instruction.operands[1:])


def _shift(target: Target, offset: int | None) -> Target:
    if offset == 0:
        return target
    pointees = tuple(
        (base, None if start is None or offset is None else start + offset) for base, start in target.pointees
    )
    return Target(pointees, target.heap)


class Addresses:
    """Targets of the addresses in one function, each worked out once."""

    def __init__(self, module: Module, function: Function, reached: Sequence[int]) -> None:
        self.module = module
        self.parameters = len(function.params)
        # Values of blocks that are never reached may be defined by themselves.
        self.definitions: dict[int, Instruction] = {
            i.result.index: i
            for b in reached
            for i in function.blocks[b].instructions
            if i.result is not None
        }
        self._found: dict[int, Target] = {}

    def target(self, operand: Operand) -> Target:
        if isinstance(operand, Local):
            found = self._found.get(operand.index)
            return found if found is not None else self._local(operand)
        return self._constant(operand)

    def _constant(self, operand: Operand) -> Target:
        offset = 0
        while isinstance(operand, ConstExpr):
            if operand.op == "getelementptr":
                assert isinstance(operand.extra, Type)
                step = constant_offset(operand.extra, operand.operands[1:])
                if step is None:
                    return NOWHERE
                offset += step
            elif operand.op not in ("bitcast", "addrspacecast"):
                return NOWHERE
            operand = operand.operands[0]
        if isinstance(operand, GlobalRef):
            name = resolve_alias(self.module, operand.name)
            variable = self.module.globals.get(name)
            if variable is not None and not variable.constant:
                return Target(((("global", name), offset),), False)
        # Constants never differ, and code is not read.
        return NOWHERE

    def _local(self, local: Local) -> Target:
        """Down the chain of steps from one base to the first that is known, then back up."""
        chain: list[tuple[int, int | None]] = []
        operand: Operand = local
        while isinstance(operand, Local) and operand.index not in self._found:
            instruction = self.definitions.get(operand.index)
            if instruction is None or instruction.opcode not in _STEPS:
                self._found[operand.index] = self._root(operand, instruction)
                break
            chain.append((operand.index, _step(instruction)))
            operand = instruction.operands[0]
        target = self._found[operand.index] if isinstance(operand, Local) else self._constant(operand)
        for index, offset in reversed(chain):
            target = self._found[index] = _shift(target, offset)
        return target

    def _root(self, local: Local, instruction: Instruction | None) -> Target:
        if instruction is None:
            known = local.index < self.parameters
            return Target(((("argument", local.index), 0),), False) if known else NOWHERE
        if instruction.opcode == "alloca":
            return Target(((("alloca", local.index), 0),), False)
        own: Pointee = (("pointer", local.index), 0)
        if instruction.opcode in ("phi", "select"):
            pointees, heap = self._choices(instruction)
            return Target((own, *pointees), heap)
        return Target((own,), True)

    def _choices(self, instruction: Instruction) -> tuple[list[Pointee], bool]:
        """Bases behind a web of phis and selects; offsets are kept only if the web has no further choices."""
        roots: dict[Pointee, None] = {}
        heap = nested = False
        assert instruction.result is not None
        seen = {instruction.result.index}
        stack = [instruction]
        while stack:
            current = stack.pop()
            for operand in current.operands if current.opcode == "phi" else current.operands[1:]:
                base, offset = self._chain(operand)
                if not isinstance(base, Local):
                    for pointee in _shift(self._constant(base), offset).pointees:
                        roots[pointee] = None
                    continue
                definition = self.definitions.get(base.index)
                if definition is not None and definition.opcode in ("phi", "select"):
                    nested = True
                    if base.index not in seen:
                        seen.add(base.index)
                        stack.append(definition)
                    continue
                target = _shift(self._root(base, definition), offset)
                heap = heap or target.heap
                for pointee in target.pointees:
                    roots[pointee] = None
        pointees = list(roots)
        if nested:
            anywhere: dict[Pointee, None] = {(base, None): None for base, _ in roots}
            pointees = list(anywhere)
        if len(pointees) > _MAX_ROOTS:
            return [], True
        return pointees, heap

    def _chain(self, operand: Operand) -> tuple[Operand, int | None]:
        """The base of a chain of constant and variable steps, and the bytes they add."""
        total: int | None = 0
        while isinstance(operand, Local):
            instruction = self.definitions.get(operand.index)
            if instruction is None or instruction.opcode not in _STEPS:
                break
            step = _step(instruction)
            total = None if step is None or total is None else total + step
            operand = instruction.operands[0]
        return operand, total

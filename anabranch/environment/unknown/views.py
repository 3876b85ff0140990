"""What the running instruction takes the object for that it accesses.

A pointer that is declared as one thing and used as another (a handle and the struct behind it, a struct and
the larger one that begins with it, `void *`) is cast; LLVM has no casts of pointers, but debug records tell
which variables of the source a value is in, and their types.
"""

from __future__ import annotations

import re

from anabranch.ir.module import Function, Instruction
from anabranch.ir.source_types import CType, SourceTypes
from anabranch.ir.types import StructType
from anabranch.ir.values import ConstInt, Local, Operand
from anabranch.machine.machine import Machine
from anabranch.machine.objects import MAX_OBJECT

_RECORD = re.compile(r'\s+#dbg_value\(ptr (%(?:[-\w$.]+|"[^"]*")), !(\d+), !DIExpression\(\)')
_POINTERS = {"load": 0, "store": 1, "atomicrmw": 0, "cmpxchg": 0}
_STEPS = 8


class Views:
    """Types by which instructions see memory, from debug records and struct types of address arithmetic."""

    def __init__(self, machine: Machine, types: SourceTypes) -> None:
        self.machine = machine
        self.types = types
        self._definitions: dict[str, dict[int, Instruction]] = {}
        self._variables: dict[str, dict[int, list[CType]]] = {}

    def struct_at(self, address: int) -> CType | None:
        """The largest struct that starts at an address, as the running instruction sees it."""
        where = self.machine.where()
        if where is None:
            return None
        instruction = where.function.blocks[where.block].instructions[where.position]
        position = _POINTERS.get(instruction.opcode)
        if position is None:
            return None
        found: CType | None = None
        pointer: Operand = instruction.operands[position]
        for _ in range(_STEPS):
            if not isinstance(pointer, Local):
                break
            value = where.values.get(f"v{pointer.index}")
            if value is None or value.__class__ is not int or value == address:
                found = self._largest(where.function, pointer, found)
            definition = self._defined(where.function).get(pointer.index)
            if definition is None or definition.opcode != "getelementptr":
                break
            pointer = definition.operands[0]
            first = definition.operands[1] if len(definition.operands) > 2 else None
            if isinstance(first, ConstInt) and first.value == 0 and isinstance(definition.extra, StructType):
                found = larger(found, self.types.by_layout(definition.extra))
        return found

    def _largest(self, function: Function, pointer: Local, found: CType | None) -> CType | None:
        """Of what variables hold this pointer, the largest struct that they point to."""
        for type in self._typed(function).get(pointer.index, ()):
            found = larger(found, type)
        return found

    def _defined(self, function: Function) -> dict[int, Instruction]:
        known = self._definitions.get(function.name)
        if known is None:
            instructions = (i for block in function.blocks for i in block.instructions)
            known = {i.result.index: i for i in instructions if i.result is not None}
            self._definitions[function.name] = known
        return known

    def _typed(self, function: Function) -> dict[int, list[CType]]:
        """Structs that pointers lead to according to the variables they are in, by index of the local."""
        known = self._variables.get(function.name)
        if known is None:
            known = self._variables[function.name] = {}
            locals_ = [*function.params, *(i.result for i in self._defined(function).values())]
            indices = {local.name: local.index for local in locals_ if local is not None}
            for line in function.body_lines():
                record = _RECORD.match(line)
                type = self.types.local(record[2]) if record is not None else None
                if record is None or type is None or type.kind != "pointer":
                    continue
                index = indices.get(record[1][1:].strip('"'))
                if index is not None and type.target.kind == "struct":
                    known.setdefault(index, []).append(type.target)
        return known


def larger(a: CType | None, b: CType | None) -> CType | None:
    """The larger of two types; of two as large the one with names."""
    if b is None or b.size > MAX_OBJECT:
        return a
    if a is None or b.size > a.size or (b.size == a.size and a.fixed is not None):
        return b
    return a

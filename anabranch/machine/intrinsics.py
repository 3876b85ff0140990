"""LLVM's intrinsic functions, as Python functions of their arguments: those that use memory or the path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.module import Instruction
from anabranch.machine import blocks
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.sparse import SPARSE_SIZE
from anabranch.semantics.addresses import overlap
from anabranch.semantics.elements import Value
from anabranch.semantics.intrinsics import Function, base_name, intrinsic_function

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

UNKNOWN = frozenset(
    ("returnaddress", "frameaddress", "addressofreturnaddress", "readcyclecounter", "stacksave")
)
"""Questions about the machine that a program runs on; the answer is 0."""


class Intrinsics:
    """Finds the function for a call of an intrinsic."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory

    def find(self, name: str, instruction: Instruction) -> Function:
        base = base_name(name)
        model = self.machine.find_model(f"llvm.{base}")
        if model is not None:
            return model
        if base in ("memcpy", "memcpy.inline"):
            return self.copy_apart
        if base == "memmove":
            return self.copy
        if base in ("memset", "memset.inline"):
            return lambda to, value, size, _volatile: self.fill(to, value, size)
        if base == "ubsantrap":
            return self.machine.sanitizer.trap
        if base in ("trap", "debugtrap"):
            return lambda *_: self.trap()
        if base == "objectsize":
            return lambda pointer, least, *_: self.object_size(pointer, least, instruction.type.bits)
        if base == "va_copy":
            return lambda to, source: self.copy(to, source, 24)
        if base in UNKNOWN:
            return lambda *_: 0
        return intrinsic_function(name, instruction)

    # ---- memory --------------------------------------------------------------------------------------

    def _length(self, size: Value, *blocks: tuple[Value, bool]) -> int:
        """The length of an operation on blocks `(address, is written)`.

        A symbolic one is an error beyond the end of the shortest block, and picked within it.
        """
        if size.__class__ is not Expr:
            return int(size)
        room = self.machine.lengths.room(size, blocks)
        return self.machine.choices.size(size, size.w, "length of a copy") if room else 0

    def copy(self, to: Value, source: Value, size: Value, _volatile: Value = False) -> None:
        if size.__class__ is int and self.memory.copied(to, source, size):
            return
        data: Sequence[Value]
        if size.__class__ is Expr and to.__class__ is int and source.__class__ is int:
            lengths = self.machine.lengths
            room = lengths.room(size, ((source, False), (to, True)))
            most = lengths.conditional(size, room, to, source)
            if most is not None:
                lengths.write(to, self.memory.contents(source, most), size)
                return
        length = self._length(size, (to, True), (source, False))
        if not length:
            return
        if length > SPARSE_SIZE and to.__class__ is int and source.__class__ is int:
            blocks.copy(self.memory, to, source, length)
            return
        if source.__class__ is Expr:
            data = self.machine.addresses.read_bytes(source, length)
        else:
            known = self.memory.concrete_bytes(source, length)
            data = self.memory.read_bytes(source, length) if known is None else known
        self._write(to, data)

    def copy_apart(self, to: Value, source: Value, size: Value, _volatile: Value = False) -> None:
        """memcpy: after the accesses were checked, so that the worse error is the one that is told."""
        self.copy(to, source, size)
        wide = expr.zext(size, size.w, 64) if size.__class__ is Expr else size
        if overlap(to, wide, source, wide):
            message = "memcpy between blocks that overlap"
            raise ProgramError(Fault("overlap", message, {"address": to, "source": source, "size": size}))

    def fill(self, to: Value, value: Value, size: Value) -> None:
        if size.__class__ is Expr and to.__class__ is int:
            lengths = self.machine.lengths
            most = lengths.conditional(size, lengths.room(size, ((to, True),)), to)
            if most is not None:
                lengths.write(to, [value] * most, size)
                return
        length = self._length(size, (to, True))
        if not length:
            return
        if to.__class__ is Expr:
            self.machine.addresses.write_bytes(to, blocks.repeated(value, length))
        else:
            blocks.fill(self.memory, to, value, length)

    def _write(self, to: Value, data: Sequence[Value]) -> None:
        if to.__class__ is Expr:
            self.machine.addresses.write_bytes(to, data)
        else:
            self.memory.write_bytes(to, data)

    def object_size(self, pointer: Value, least: Value, width: int) -> Value:
        """The bytes from a pointer to the end of its object, where that is known."""
        unknown = 0 if least is True else (1 << width) - 1
        if pointer.__class__ is Expr:
            return unknown
        info = self.memory.find(pointer >> 32)
        if info is None or info.end or info.extent is not None:
            return unknown
        return max(0, info.size - (pointer & 0xFFFFFFFF))

    def trap(self) -> None:
        raise ProgramError(Fault("abort", "trap instruction"))

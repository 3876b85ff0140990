"""What a loop may write, before its body has been executed: by the form of its instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.analysis.addresses import Addresses
from anabranch.analysis.callgraph import CALLS, direct_callee
from anabranch.analysis.cfg import build_cfg
from anabranch.expr import Expr
from anabranch.ir.module import Instruction
from anabranch.ir.types import PointerType
from anabranch.ir.values import Local, Operand

if TYPE_CHECKING:
    from anabranch.check.gate import Gated

_FOLLOWED = frozenset(("getelementptr", "bitcast", "addrspacecast", "freeze", "phi", "select"))
"""Instructions whose result points to where an operand does."""
_HARMLESS = ("llvm.lifetime", "llvm.memset", "llvm.memcpy", "llvm.memmove", "llvm.dbg", "llvm.va_")


class LoopWrites:
    """The bases that each loop of a function may write; True beside them: and whatever pointers lead to."""

    def __init__(self, gated: Gated) -> None:
        self.gated = gated
        self._found: dict[int, tuple[set[Expr], bool]] = {}
        self._addresses: Addresses | None = None
        self._escaped: set[int] | None = None

    def of(self, header: int) -> tuple[set[Expr], bool]:
        found = self._found.get(header)
        if found is None:
            found = self._found[header] = self._scan(header)
        return found

    def _scan(self, header: int) -> tuple[set[Expr], bool]:
        function = self.gated.function
        bases: set[Expr] = set()
        everything = False
        for block in self.gated.graph.loops.loops[header].blocks:
            for instruction in function.blocks[block].instructions:
                opcode = instruction.opcode
                if opcode == "store":
                    everything |= self._add(instruction.operands[1], bases)
                elif opcode in ("atomicrmw", "cmpxchg"):
                    everything |= self._add(instruction.operands[0], bases)
                elif opcode in CALLS:
                    everything |= self._call(instruction, bases)
        return bases, everything

    def _add(self, address: Operand, bases: set[Expr]) -> bool:
        """Add what an address points into; True if that is not known."""
        gated = self.gated
        if self._addresses is None:
            self._addresses = Addresses(gated.program.module, gated.function, build_cfg(gated.function).order)
        target = self._addresses.target(address)
        for base, _ in target.pointees:
            if base[0] == "global":
                bases.add(gated.program.global_object(base[1]))
            elif base[0] == "alloca":
                bases.add(gated.alloca(gated.definition(base[1])))
            elif base[0] == "argument":
                value = gated.parameter_value(base[1])
                if value.__class__ is Expr:
                    bases.add(value)
        return target.heap

    def _call(self, instruction: Instruction, bases: set[Expr]) -> bool:
        program = self.gated.program
        name = direct_callee(program.module, instruction)
        arguments = instruction.operands[1:]
        if name is None:
            return True
        if name.startswith("llvm."):
            writes = name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove", "llvm.va_"))
            return self._add(arguments[0], bases) if writes else False
        callee = program.summary(self.gated.name, name)
        if callee is None:
            if not program.module.functions[name].is_declaration:
                return True
            return self._external(name, arguments, bases)
        everything = bool(callee.wild)
        for base in callee.effects.written():
            leaf_index = callee.parameter_index(base)
            if program.is_global(base):
                bases.add(base)
            elif leaf_index is not None and leaf_index < len(arguments):
                everything |= self._add(arguments[leaf_index], bases)
            elif program.leaves.visible(base.a):
                everything = True
        return everything

    def _external(self, name: str, arguments: tuple[Operand, ...], bases: set[Expr]) -> bool:
        everything = False
        contract = self.gated.program.externals.get(name)
        for position, argument in enumerate(arguments):
            if isinstance(argument.type, PointerType) and contract.may_write(position):
                everything |= self._add(argument, bases)
        return everything

    # -- local variables whose address nothing else knows -----------------------------------------------

    def private(self, index: int) -> bool:
        if self._escaped is None:
            self._escaped = self._escaping()
        return index not in self._escaped

    def _escaping(self) -> set[int]:
        """Allocas whose address is stored, passed or returned."""
        function = self.gated.function
        roots: dict[int, set[int]] = {}
        for block in function.blocks:
            for instruction in block.instructions:
                if instruction.opcode == "alloca" and instruction.result is not None:
                    roots[instruction.result.index] = {instruction.result.index}
        changed = True
        escaped: set[int] = set()
        while changed:
            changed = False
            for block in function.blocks:
                for instruction in block.instructions:
                    for position, operand in enumerate(instruction.operands):
                        if not isinstance(operand, Local) or operand.index not in roots:
                            continue
                        mine = roots[operand.index]
                        if instruction.opcode in _FOLLOWED:
                            assert instruction.result is not None
                            known = roots.setdefault(instruction.result.index, set())
                            if not mine <= known:
                                known |= mine
                                changed = True
                        elif not self._keeps(instruction, position):
                            escaped |= mine
        return escaped

    def _keeps(self, instruction: Instruction, position: int) -> bool:
        """Does an instruction use an address without passing it on?"""
        opcode = instruction.opcode
        if opcode in ("load", "icmp", "alloca", "check"):
            return True
        if opcode == "store":
            return position == 1
        if opcode in CALLS:
            name = direct_callee(self.gated.program.module, instruction)
            return name is not None and name.startswith(_HARMLESS)
        return False

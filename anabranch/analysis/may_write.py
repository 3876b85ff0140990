"""Which objects a piece of a program may write, its callees included."""

from __future__ import annotations

from anabranch.analysis.abstract_objects import COPIED, ENVIRONMENT, OUTSIDE, PASSED
from anabranch.analysis.bits import ones_of
from anabranch.analysis.callgraph import CALLS
from anabranch.analysis.components import named_components
from anabranch.analysis.constraints import Declared
from anabranch.analysis.effects import MADE
from anabranch.analysis.points_to import PointsTo
from anabranch.ir.module import CallInfo, Function, Instruction
from anabranch.ir.values import InlineAsm

_WRITING_INTRINSICS = ("llvm.memcpy", "llvm.memmove", "llvm.memset", "llvm.va_start", "llvm.va_copy")

WRITING = CALLS | {"store", "atomicrmw", "cmpxchg"}


class MayWrite:
    """Masks over the objects of `points_to`. What a function writes is known from the start, the parts of a
    function are looked at when they are asked for."""

    def __init__(self, points_to: PointsTo, declared: Declared) -> None:
        self.points_to = points_to
        self.module = points_to.graph.module
        self._declared = declared
        objects = points_to.objects
        self.unknown = points_to.outside | objects.bit(OUTSIDE) | objects.bit(ENVIRONMENT)
        """What a function without a body and without a declaration may write."""
        self._writable = ~sum(
            objects.known(("symbol", name)) for name, g in self.module.globals.items() if g.constant
        )
        """A write to a constant is an error, and changes nothing."""
        self._callees = {
            name: {(site.block, site.index): site.callees for site in sites}
            for name, sites in points_to.graph.sites.items()
        }
        self._functions: dict[str, int] = {}
        self._blocks: dict[str, list[int]] = {}
        self._own: dict[str, list[int]] = {}
        self._solve()

    def _solve(self) -> None:
        """Callees come first; those of a cycle write what all of them write."""
        graph = self.points_to.graph
        bodies = [name for name in graph.sites if self.points_to.has_body(name)]
        known = set(bodies)
        calls = {name: [c for c in graph.callees(name) if c in known] for name in bodies}
        for members in named_components(calls):
            mask = 0
            for name in members:
                function = self.module.functions[name]
                self._own[name] = [self._own_writes(function, block.index) for block in function.blocks]
                for own in self._own[name]:
                    mask |= own
                for callee in calls[name]:
                    mask |= self._functions.get(callee, 0)
            for name in members:
                self._functions[name] = mask

    def function(self, name: str) -> int:
        """What a call of a function with a body may write."""
        return self._functions[name]

    def block(self, function: Function, block: int) -> int:
        """What a block may write, the functions that it calls included."""
        found = self._blocks.get(function.name)
        if found is None:
            found = list(self._own[function.name])
            for site in self.points_to.graph.sites[function.name]:
                for callee in site.callees:
                    found[site.block] |= self._functions.get(callee, 0)
            self._blocks[function.name] = found
        return found[block]

    def region(self, function: Function, blocks: int) -> int:
        """What the blocks of a mask may write (`ControlRegions.between`: of a branch's region)."""
        mask = 0
        for block in ones_of(blocks):
            mask |= self.block(function, block)
        return mask

    def instruction(self, function: Function, block: int, index: int) -> int:
        """What one instruction may write, a call with all that happens in it."""
        instruction = function.blocks[block].instructions[index]
        mask = self.written(function, block, index, instruction)
        if instruction.opcode in CALLS:
            for callee in self._callees[function.name].get((block, index), ()):
                mask |= self._functions.get(callee, 0)
        return mask

    # ---- what instructions write themselves ------------------------------------------------------------

    def _own_writes(self, function: Function, block: int) -> int:
        mask = 0
        for index, instruction in enumerate(function.blocks[block].instructions):
            if instruction.opcode in WRITING:
                mask |= self.written(function, block, index, instruction)
        return mask

    def written(self, function: Function, block: int, index: int, instruction: Instruction) -> int:
        """What one instruction may write, without callees."""
        return self._pointed(function, block, index, instruction) & self._writable

    def _pointed(self, function: Function, block: int, index: int, instruction: Instruction) -> int:
        opcode = instruction.opcode
        if opcode == "store":
            return self.points_to.of(function, instruction.operands[1])
        if opcode in CALLS:
            return self._called(function, block, index, instruction)
        if opcode in ("atomicrmw", "cmpxchg"):
            return self.points_to.of(function, instruction.operands[0])
        return 0

    def _called(self, function: Function, block: int, index: int, call: Instruction) -> int:
        """What a call writes that the callees' bodies do not."""
        if isinstance(call.operands[0], InlineAsm):
            return 0
        points_to, mask = self.points_to, 0
        info = call.extra
        assert isinstance(info, CallInfo)
        if any(attrs is not None and attrs.byval is not None for attrs in info.arg_attrs):
            mask |= points_to.objects.bit(COPIED)
        for name in self._callees[function.name].get((block, index), ()):
            if points_to.has_body(name):
                continue
            if name.startswith(("llvm.", "anabranch.")):
                if name.startswith(_WRITING_INTRINSICS):
                    mask |= points_to.of(function, call.operands[1])
                if name.startswith("llvm.va_start"):
                    mask |= points_to.objects.bit(PASSED)
                continue
            declared = self._declared(function, call, name)
            if declared is None:
                mask |= self.unknown
                continue
            mask |= points_to.call_places(function, call, declared)
            if any(to is MADE for _, to in declared.passes):
                mask |= points_to.objects.bit(("heap", function.name, block, index))
        return mask

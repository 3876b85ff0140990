"""Inclusion constraints between the values of a program: which pointers go where.

A node is a register, what a function returns, or the contents of an object (all of it: fields are not told
apart). Pointers travel in values of 64 bits and more, and in bytes, because C may copy any object byte by
byte. Values of 16 and 32 bits carry none: no C program may take a pointer apart like that.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from anabranch.analysis.abstract_objects import COPIED, OUTSIDE, PASSED, AbstractObjects
from anabranch.analysis.callgraph import CALLS, CallGraph, mentioned, resolve_alias
from anabranch.analysis.effects import Effects, From, Inside, Other, Part, Place, Static
from anabranch.ir.module import CallInfo, Function, Instruction
from anabranch.ir.types import FloatType, Type
from anabranch.ir.values import InlineAsm, Local, Operand

_PASSING = frozenset(
    (
        *("getelementptr", "bitcast", "addrspacecast", "freeze", "inttoptr", "ptrtoint", "phi", "select"),
        *("add", "sub", "and", "or", "xor", "mul", "shl", "lshr", "ashr", "zext", "sext", "trunc"),
        *("insertvalue", "extractvalue", "insertelement", "extractelement", "shufflevector"),
    )
)
"""Instructions whose result may be a pointer that one of their operands was, or was made of."""
_INERT = ("llvm.dbg.", "llvm.lifetime.", "anabranch.")

Declared = Callable[[Function, Instruction, str], Effects | None]
"""What a call in a function of one without a body (by name) does; None if nobody knows."""


class Constraints:
    """Collected by reading every instruction once."""

    def __init__(self, graph: CallGraph, declared: Declared, replaced: Container[str] = ()) -> None:
        self.graph = graph
        self.module = graph.module
        self.declared = declared
        self.replaced = replaced
        self.objects = AbstractObjects()
        self.first: dict[str, int] = {}
        """Function -> the node of its first register; its result follows its registers."""
        self.count = 0
        self.holds: dict[int, int] = {}
        """Node -> objects that it certainly points to."""
        self.copies: list[tuple[int, int]] = []
        """(from, to)"""
        self.loads: list[tuple[int, int]] = []
        """(pointer, to)"""
        self.stores: list[tuple[int, int]] = []
        """(from, pointer)"""
        self._contents: dict[int, int] = {}
        self._constants: dict[int, int] = {}
        self._carrying: dict[Type, bool] = {}
        self.outside = self.node()
        """Contents of what is outside: all pointers that an unknown function may have."""
        self.escaped = 1 << self.objects.number(OUTSIDE)
        self._contents[self.objects.number(OUTSIDE)] = self.outside
        self.holds[self.outside] = self.escaped
        # Whatever is outside may read and write all that it has a pointer to.
        self.loads.append((self.outside, self.outside))
        self.stores.append((self.outside, self.outside))
        self.functions = [graph.module.functions[name] for name in graph.sites if self.has_body(name)]
        for function in self.functions:
            _ = function.blocks
            self.first[function.name] = self.count
            self.count += function.local_count + 1
        self._globals()
        for function in self.functions:
            self._function(function)

    # ---- nodes ---------------------------------------------------------------------------------------

    def node(self) -> int:
        self.count += 1
        return self.count - 1

    def contents(self, number: int) -> int:
        """The node for what is in an object."""
        found = self._contents.get(number)
        if found is None:
            found = self._contents[number] = self.node()
        return found

    def has_body(self, name: str) -> bool:
        function = self.module.functions.get(name)
        return function is not None and not function.is_declaration and name not in self.replaced

    def result(self, function: Function) -> int:
        return self.first[function.name] + function.local_count

    def symbol(self, name: str) -> int:
        return self.objects.bit(("symbol", resolve_alias(self.module, name)))

    def constant(self, operand: Operand) -> int:
        """Objects that a constant points to."""
        mask = 0
        for name in mentioned(operand):
            mask |= self.symbol(name)
        return mask

    def value(self, function: Function, operand: Operand) -> int:
        """The node of an operand; -1 if it points nowhere."""
        if operand.__class__ is Local:
            assert isinstance(operand, Local)
            return self.first[function.name] + operand.index
        mask = self.constant(operand)
        return self._holding(mask) if mask else -1

    def _holding(self, mask: int) -> int:
        node = self._constants.get(mask)
        if node is None:
            node = self._constants[mask] = self.node()
            self.holds[node] = mask
        return node

    def _copy(self, source: int, target: int) -> None:
        if source >= 0:
            self.copies.append((source, target))

    def _hold(self, node: int, mask: int) -> None:
        self.holds[node] = self.holds.get(node, 0) | mask

    def carries(self, type: Type) -> bool:
        found = self._carrying.get(type)
        if found is None:
            bits = type.bits
            wide = bits == 8 or bits >= 64 or (not bits and type.size > 0)
            found = self._carrying[type] = wide and not isinstance(type, FloatType)
        return found

    # ---- reading the program -------------------------------------------------------------------------

    def _globals(self) -> None:
        for name, variable in self.module.globals.items():
            number = self.objects.number(("symbol", name))
            if variable.initializer is None:
                self._hold(self.contents(number), self.escaped)
                continue
            mask = self.constant(variable.initializer)
            if mask:
                self._hold(self.contents(number), mask)

    def _function(self, function: Function) -> None:
        name, first = function.name, self.first[function.name]
        callees = {(site.block, site.index): site.callees for site in self.graph.sites[name]}
        for block in function.blocks:
            for index, i in enumerate(block.instructions):
                opcode, result = i.opcode, i.result
                if opcode in _PASSING:
                    assert result is not None
                    if self.carries(i.type):
                        for operand in i.operands:
                            self._copy(self.value(function, operand), first + result.index)
                elif opcode == "load":
                    assert result is not None
                    if self.carries(i.type):
                        self._load(function, i.operands[0], first + result.index)
                elif opcode == "store":
                    if self.carries(i.operands[0].type):
                        self._store(function, i.operands[0], i.operands[1])
                elif opcode in CALLS:
                    self._call(function, block.index, index, i, callees.get((block.index, index), ()))
                elif opcode == "alloca":
                    assert result is not None
                    self._hold(first + result.index, self.objects.bit(("local", name, result.index)))
                elif opcode == "ret":
                    if i.operands and self.carries(i.operands[0].type):
                        self._copy(self.value(function, i.operands[0]), self.result(function))
                elif opcode in ("atomicrmw", "cmpxchg"):
                    assert result is not None
                    self._load(function, i.operands[0], first + result.index)
                    self._store(function, i.operands[-1], i.operands[0])

    def _load(self, function: Function, pointer: Operand, to: int) -> None:
        node = self.value(function, pointer)
        if node >= 0:
            self.loads.append((node, to))

    def _store(self, function: Function, value: Operand, pointer: Operand) -> None:
        source, target = self.value(function, value), self.value(function, pointer)
        if source >= 0 and target >= 0:
            self.stores.append((source, target))

    # ---- calls ---------------------------------------------------------------------------------------

    def _call(
        self, function: Function, block: int, index: int, call: Instruction, callees: Iterable[str]
    ) -> None:
        if isinstance(call.operands[0], InlineAsm):
            return
        for name in callees:
            if self.has_body(name):
                self._call_body(function, call, self.module.functions[name])
            else:
                self._call_outside(function, (function.name, block, index), call, name)

    def _call_body(self, function: Function, call: Instruction, callee: Function) -> None:
        info = call.extra
        assert isinstance(info, CallInfo)
        first = self.first[callee.name]
        for position, operand in enumerate(call.operands[1:]):
            node = self.value(function, operand)
            if node < 0 or not self.carries(operand.type):
                continue
            attrs = info.arg_attrs[position] if position < len(info.arg_attrs) else None
            if attrs is not None and attrs.byval is not None:
                copied = self.objects.number(COPIED)
                self.loads.append((node, self.contents(copied)))
                node = self._holding(1 << copied)
            if position < len(callee.params):
                self._copy(node, first + callee.params[position].index)
            elif callee.vararg:
                self._copy(node, self.contents(self.objects.number(PASSED)))
        if call.result is not None and self.carries(call.type):
            self._copy(self.result(callee), self.first[function.name] + call.result.index)

    def _call_outside(
        self, function: Function, at: tuple[str, int, int], call: Instruction, name: str
    ) -> None:
        if name.startswith(_INERT):
            return
        nodes = [self.value(function, operand) for operand in call.operands[1:]]
        result = self.first[function.name] + call.result.index if call.result is not None else -1
        if call.result is not None and not self.carries(call.type):
            result = -1
        if name.startswith("llvm."):
            self._intrinsic(name, nodes, result)
            return
        declared = self.declared(function, call, name)
        made = self.objects.number(("heap", *at))
        if declared is None:
            for node in nodes:
                self._copy(node, self.outside)
            self._hold(self.outside, 1 << made)
            if result >= 0:
                self._copy(self.outside, result)
            return
        for argument in declared.keeps:
            if argument < len(nodes):
                self._copy(nodes[argument], self.outside)
        for source, target in declared.passes:
            value = self.node()
            self.loads += [(pointer, value) for pointer in self.pointers(nodes, source, made)]
            self.stores += [(value, pointer) for pointer in self.pointers(nodes, target, made)]
        for what, where in declared.puts:
            for value in self.pointers(nodes, what, made):
                self.stores += [(value, pointer) for pointer in self.pointers(nodes, where, made)]
        if result >= 0:
            for place in declared.points:
                for node in self.pointers(nodes, place, made):
                    self._copy(node, result)

    def _intrinsic(self, name: str, nodes: Sequence[int], result: int) -> None:
        if name.startswith(("llvm.memcpy", "llvm.memmove", "llvm.va_copy")):
            if nodes[0] >= 0 and nodes[1] >= 0:
                value = self.node()
                self.loads.append((nodes[1], value))
                self.stores.append((value, nodes[0]))
        elif name.startswith("llvm.va_start"):
            if nodes[0] >= 0:
                self.stores.append((self._holding(self.objects.bit(PASSED)), nodes[0]))
        elif result >= 0:
            # Minimum, maximum, masks of pointers, launder and others: the result is one of the arguments.
            for node in nodes:
                self._copy(node, result)

    def pointers(self, nodes: Sequence[int], place: Place, made: int) -> list[int]:
        """Nodes that point to a place, given those of the arguments and the object that the call makes."""
        if isinstance(place, int):
            return [nodes[place]] if place < len(nodes) and nodes[place] >= 0 else []
        if isinstance(place, From):
            return [node for node in nodes[place.argument :] if node >= 0]
        if isinstance(place, Inside):
            if place.argument >= len(nodes) or nodes[place.argument] < 0:
                return []
            node = self.node()
            self.loads.append((nodes[place.argument], node))
            return [node]
        if isinstance(place, Part):
            return []
        if isinstance(place, Static):
            return [self._holding(self.objects.bit(("static", place.name)))]
        return [self._holding(1 << made) if place is Other.MADE else self.outside]

"""Calls: summaries of functions with a body, contracts of those without, intrinsics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

from anabranch.analysis.callgraph import direct_callee
from anabranch.check.conditions import Condition
from anabranch.check.effects import is_heap
from anabranch.check.events import Event, Extent, Havoc, Hits, Location
from anabranch.check.external_calls import ExternalCalls
from anabranch.check.leaves import GlobalObject
from anabranch.check.memory import MemoryOf
from anabranch.check.recursion import may_return_null
from anabranch.check.requirements import lifted
from anabranch.check.summaries import RETURNED, RETURNS, WRITES_ANYTHING, Site
from anabranch.expr import (
    Expr,
    Value,
    bool_and,
    bool_or,
    eq,
    ite,
    not_,
    sub,
)
from anabranch.ir.module import CallInfo, Instruction
from anabranch.ir.types import PointerType
from anabranch.ir.values import InlineAsm
from anabranch.semantics.elements import is_scalar
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.intrinsics import intrinsic_function

if TYPE_CHECKING:
    from anabranch.check.gate import Gated
    from anabranch.check.walk import WalkOfUndefined

UNDEFINED = "anabranch.undef."
"""Functions that the front end calls for the value of an uninitialised local variable."""
IGNORED = (
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.va_end",
    "llvm.prefetch",
    "llvm.experimental.noalias",
    "llvm.donothing",
    "llvm.stackrestore",
)


@dataclass(frozen=True, slots=True)
class Mapped:
    """Memory of the caller that is `base` to the callee."""

    base: Expr
    condition: Value
    offset: Value
    extent: Extent


@dataclass(eq=False, slots=True)
class CallEvent(Event):
    """What a call may have written. The list is lazy: a read asks the callee about the one location."""

    site: Site
    table: dict[Expr, list[Mapped]]
    freed: dict[Expr, list[tuple[Value, Expr]]]
    anything: Value
    """The condition under which the callee may have written everything that pointers lead to."""

    def bases(self) -> Iterable[Expr]:
        return (*self.table, *self.freed, *self.site.blocks)

    def everything(self) -> bool:
        return self.anything is not False

    def hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        found: Hits = []
        for mapped in self._mapped(at.base):
            offset = sub(at.offset, mapped.offset, 64)
            if offset.__class__ is Expr:
                reason = "memory written by a call at a symbolic index"
                found.append((mapped.condition, memory.unknown(node, position, at, reason)))
            elif _overlaps(mapped.extent, offset, at.bytes):
                found.append((mapped.condition, self._effect(mapped.base, offset, at.width)))
        if self.anything is not False and not found and memory.shared(at.base):
            if isinstance(memory.leaves.of(at.base), GlobalObject) and at.offset.__class__ is int:
                return [(True, self._effect(at.base, at.offset, at.width))]
            reason = f"memory that {self.site.callee.name} may have written"
            value = memory.unknown(node, position, at, reason, self.site.loc, at.width == 64)
            return [(self.anything, value)]
        if len(found) > 1:
            return self._joined(memory, found)
        return found

    def undefined_hits(self, walk: WalkOfUndefined, node: int, position: int, at: Location) -> Hits:
        found: Hits = []
        for mapped in self._mapped(at.base):
            offset = sub(at.offset, mapped.offset, 64)
            if offset.__class__ is Expr or _overlaps(mapped.extent, offset, at.bytes):
                found.append((mapped.condition, False))
        if self.anything is not False and not found and walk.memory.shared(at.base):
            return [(self.anything, False)]
        return found

    def _mapped(self, base: Expr) -> Sequence[Mapped]:
        """What a base of the caller is to the callee."""
        block = self.site.blocks.get(base)
        if block is None:
            return self.table.get(base, ())
        return [Mapped(block, self.site.guard, 0, self.site.callee.effects.written_of(block))]

    def _effect(self, base: Expr, offset: int, width: int) -> Value:
        summaries = self.site.caller.program.summaries
        return summaries.operator(self.site, ("memory", base, offset, width), width, width == 64)

    def _joined(self, memory: MemoryOf, found: Hits) -> Hits:
        """Arguments that alias: either definition may be the last (section 3.1.3)."""
        which = [memory.leaves.unknown(1, "which argument was written last") for _ in found[1:]]
        gates: list[Value] = [*which, True]
        return [(bool_and(c, g), v) for (c, v), g in zip(found, gates, strict=True)]

    def ghost_hits(self, memory: MemoryOf, node: int, position: int, at: Location) -> Hits:
        summaries = self.site.caller.program.summaries
        return [
            (condition, ite(summaries.operator(self.site, ("freed", base), 1), 1, 0, 8))
            for condition, base in self.freed.get(at.base, ())
        ]


def _overlaps(extent: Extent, offset: int, size: int) -> bool:
    if extent is None:
        return True
    signed = offset - (1 << 64) if offset >> 63 else offset
    for start, length in extent:
        begin = start - (1 << 64) if start >> 63 else start
        if begin < signed + size and signed < begin + length:
            return True
    return False


def _meet(mapped: list[Mapped]) -> bool:
    """May two of the callee's bases, which lie in one object of the caller, be the same memory?"""
    for number, first in enumerate(mapped):
        for second in mapped[:number]:
            distance = sub(second.offset, first.offset, 64)
            if distance.__class__ is Expr or first.extent is None or second.extent is None:
                return True
            if any(_overlaps(first.extent, start + distance, size) for start, size in second.extent):
                return True
    return False


class Calls:
    """Executes calls in the gated form of a function."""

    def __init__(self) -> None:
        self.externals = ExternalCalls()

    def execute(self, gated: Gated, node: int, instruction: Instruction) -> None:
        program = gated.program
        arguments = tuple(gated.value(node, operand) for operand in instruction.operands[1:])
        self._used(gated, node, instruction, arguments)
        called = instruction.operands[0]
        if isinstance(called, InlineAsm):
            gated.lose("inline assembly is assumed to write only what its arguments point to")
            self.externals.write_arguments(gated, node, instruction, arguments, None, "inline assembly")
            self._unknown(gated, node, instruction, "inline assembly")
            return
        name = direct_callee(program.module, instruction) or self._pointed(gated, node, instruction)
        if name is None:
            self._indirect(gated, node, instruction, arguments)
        elif name.startswith("llvm."):
            self._intrinsic(gated, node, instruction, name, arguments)
        elif name.startswith(UNDEFINED):
            self._undefined(gated, node, instruction)
        elif program.module.functions[name].is_declaration:
            self.externals.external(gated, node, instruction, name, arguments)
        elif (callee := program.summary(gated.name, name)) is not None:
            result = self._summary(gated, node, instruction, callee, arguments)
            if instruction.result is not None and gated.assume[node] is not False:
                gated.define(node, instruction, result)
        elif name in program.never_return:
            gated.assume[node] = False
        else:
            self._recursive(gated, node, instruction, name, arguments)

    def _used(self, gated: Gated, node: int, instruction: Instruction, arguments: tuple[Value, ...]) -> None:
        info = instruction.extra
        if isinstance(info, CallInfo):
            for value, attributes in zip(arguments, info.arg_attrs, strict=False):
                if attributes is not None and "noundef" in attributes.names:
                    gated.use(node, value, instruction, "call with")

    def _pointed(self, gated: Gated, node: int, instruction: Instruction) -> str | None:
        """The function that a pointer is known to lead to."""
        target = gated.value(node, instruction.operands[0])
        gated.access(node, target, None, instruction, "call")
        leaf = gated.program.leaves.of(target) if target.__class__ is Expr and target.op == "var" else None
        if isinstance(leaf, GlobalObject) and leaf.name in gated.program.module.functions:
            return leaf.name
        return None

    # -- functions that are not known -------------------------------------------------------------------

    def _unknown(self, gated: Gated, node: int, instruction: Instruction, reason: str) -> None:
        if instruction.result is not None:
            value = gated.program.unknown(instruction.type, reason, instruction.loc)
            gated.define(node, instruction, value)

    def _indirect(
        self, gated: Gated, node: int, instruction: Instruction, arguments: tuple[Value, ...]
    ) -> None:
        """A call of one of a few functions, each under the condition that the pointer leads to it; of any
        other function nothing is known."""
        program = gated.program
        assert isinstance(instruction.extra, CallInfo)
        names = program.targets.get(instruction.extra.function_type, ())
        callees = [callee for name in names if (callee := program.summary(gated.name, name)) is not None]
        pointer = gated.value(node, instruction.operands[0])
        elsewhere: Value = True
        returned: list[tuple[Value, Value]] = []
        for callee in callees:
            guard = eq(pointer, program.global_object(callee.name), 64)
            if guard is not False:
                result = self._summary(gated, node, instruction, callee, arguments, guard)
                returned.append((guard, result))
                elsewhere = bool_and(elsewhere, not_(guard))
        if returned and len(callees) == len(names):
            gated.lose("a function pointer is assumed to lead to a function of its type")
            gated.assume[node] = bool_and(gated.assume[node], not_(elsewhere))
        else:
            program.imprecise["an indirect call may write anything"] += 1
            self._write_everything(gated, node, instruction, "an indirect call", elsewhere)
            reason = "the result of an indirect call"
            returned.append((True, program.unknown(instruction.type, reason, instruction.loc)))
        if instruction.result is not None:
            result = returned[-1][1]
            for guard, value in reversed(returned[:-1]):
                result = gated.choose(guard, value, result, instruction.type)
            gated.define(node, instruction, result)

    def _recursive(
        self, gated: Gated, node: int, instruction: Instruction, name: str, arguments: tuple[Value, ...]
    ) -> None:
        """A call inside a cycle: as its contract says, if it has one, else nothing is known of it."""
        program = gated.program
        gated.lose("what is passed to a recursive call is not checked")
        if program.externals.get(name).known:
            self.externals.external(gated, node, instruction, name, arguments)
            return
        program.imprecise["a recursive call may write anything"] += 1
        self._write_everything(gated, node, instruction, f"the recursive call of {name}")
        if instruction.result is None:
            return
        type, loc = instruction.type, instruction.loc
        result = program.unknown(type, f"the result of the recursive call of {name}", loc)
        if isinstance(type, PointerType) and may_return_null(program.module.functions[name]):
            doubt = f"the recursive call of {name} returns NULL, which it does somewhere"
            result = ite(program.leaves.failure(name, loc, doubt), 0, result, 64)
        gated.define(node, instruction, result)

    def _write_everything(
        self, gated: Gated, node: int, instruction: Instruction, reason: str, condition: Value = True
    ) -> None:
        event = Havoc(frozenset(), True, condition, f"memory after {reason}", instruction.loc)
        gated.memory.append(node, event)
        gated.wild.append((node, condition))

    # -- functions with a summary -----------------------------------------------------------------------

    def _summary(
        self,
        gated: Gated,
        node: int,
        instruction: Instruction,
        callee: Gated,
        arguments: tuple[Value, ...],
        guard: Value = True,
    ) -> Value:
        """What a call returns, if it is one of the callee (`guard`)."""
        program = gated.program
        label = (gated.name, len(gated.calls) + 1)
        position = len(gated.memory.events[node])
        site = Site(gated, node, position, callee, arguments, instruction.loc, label, guard)
        gated.calls.append(site)
        started = process_time()
        self._requirements(gated, site)
        program.spend("lifting", process_time() - started)
        if not callee.effects.returns:
            gated.assume[node] = bool_and(gated.assume[node], not_(guard))
            return program.unknown(instruction.type, "unreachable code", None)
        if guard is True:
            self._learn(gated, site)
        returns = program.summaries.operator(site, RETURNS, 1)
        result = None if instruction.result is None else self._result(site, instruction)
        self._effects(gated, node, site)
        gated.assume[node] = bool_and(gated.assume[node], bool_or(not_(guard), returns))
        return result

    def _learn(self, gated: Gated, site: Site) -> None:
        """What holds of pointers if a call comes back."""
        effects, arguments = site.callee.effects, site.arguments
        for index in effects.always_accessed:
            if index < len(arguments) and arguments[index].__class__ is Expr:
                self._learn_access(gated, arguments[index])
        for pointer in effects.not_null:
            value = site.value(pointer.a)
            if value.__class__ is Expr:
                gated.learn("null", gated.program.places.pointer(value))

    def _learn_access(self, gated: Gated, pointer: Expr) -> None:
        gated.learn("null", gated.program.places.pointer(pointer))
        gated.learn("access", gated.program.places.subject(pointer))

    def _result(self, site: Site, instruction: Instruction) -> Value:
        program, type = site.caller.program, instruction.type
        value = site.callee.effects.value(RETURNED)
        if not is_scalar(type) or isinstance(value, tuple) or value is None:
            # An aggregate is a value of several parts; it is taken apart as soon as it is used.
            if isinstance(value, tuple):
                return _instantiated(site, value)
            return program.unknown(type, f"the result of {site.callee.name}", site.loc)
        if value.__class__ is Expr and value.w != type.bits:
            return program.unknown(type, f"the result of {site.callee.name}", site.loc)
        return program.summaries.operator(site, RETURNED, type.bits, isinstance(type, PointerType))

    def _effects(self, gated: Gated, node: int, site: Site) -> None:
        table: dict[Expr, list[Mapped]] = {}
        freed: dict[Expr, list[tuple[Value, Expr]]] = {}
        places = gated.program.places
        for base, extent in site.callee.effects.written().items():
            for place in places.of(site.value(base.a)):
                if place.base is not None:
                    condition = bool_and(site.guard, place.condition)
                    mapped = Mapped(base, condition, place.offset, extent)
                    table.setdefault(place.base, []).append(mapped)
                elif place.offset is None:
                    gated.lose("a store to an unknown address is left out")
        leaves = gated.program.leaves
        if any(_meet(mapped) for mapped in table.values()):
            gated.lose("arguments alias: the order of their stores is open")
        for base in sorted(site.callee.effects.frees, key=lambda base: base.id):
            if leaves.visible(base.a) or is_heap(leaves.of(base)):
                for place in places.of(site.value(base.a)):
                    if place.base is not None:
                        condition = bool_and(site.guard, place.condition)
                        freed.setdefault(place.base, []).append((condition, base))
        anything: Value = False
        if site.callee.wild:
            anything = bool_and(site.guard, gated.program.summaries.operator(site, WRITES_ANYTHING, 1))
            if anything is not False:
                gated.wild.append((node, bool_and(gated.assume[node], anything)))
        gated.memory_is_freed = gated.memory_is_freed or bool(freed)
        if table or freed or anything is not False or site.callee.effects.writes_blocks:
            gated.memory.append(node, CallEvent(site, table, freed, anything))

    def _requirements(self, gated: Gated, site: Site) -> None:
        """What the callee wants of its callers becomes conditions of this one."""
        program = gated.program
        for requirement in site.callee.requirements.values():
            bad = site.value(requirement.leaf.a)
            if bad is False:
                program.counts["not passed at a call"] += 1
            else:
                condition = Condition(
                    requirement.property, gated, site.node, bad, site.path, site.loc, "", None
                )
                condition.passing = (site, requirement)
                gated.add(condition)
        for condition in site.callee.lifted:
            if len(condition.calls) >= program.settings.max_depth:
                if condition.place() not in gated.too_far:
                    gated.too_far.add(condition.place())
                    program.undecided["too many calls between a place and its condition"] += 1
                continue
            above = lifted(condition, site)
            if above.bad is False or any(a is False for a in above.antecedents):
                program.counts["lifted and folded"] += 1
            else:
                gated.add(above)

    # -- intrinsics -------------------------------------------------------------------------------------

    def _undefined(self, gated: Gated, node: int, instruction: Instruction) -> None:
        assert instruction.result is not None
        variable = gated.function.variables.get(instruction.result.index)
        name = "a local variable" if variable is None else variable.name
        if is_scalar(instruction.type):
            value = gated.program.leaves.uninitialised(
                instruction.type.bits, name, instruction.loc, part=False
            )
            gated.define(node, instruction, value)
        else:
            self._unknown(gated, node, instruction, "an undefined value")

    def _intrinsic(
        self, gated: Gated, node: int, instruction: Instruction, name: str, arguments: tuple[Value, ...]
    ) -> None:
        if name.startswith(IGNORED):
            if instruction.result is not None:
                self._unknown(gated, node, instruction, name)
            return
        if name.startswith(("llvm.trap", "llvm.ubsantrap")):
            gated.assume[node] = False
        elif name.startswith(("llvm.memcpy", "llvm.memmove")):
            self._checked_range(gated, node, instruction, arguments, (0, 1))
            self.externals.copy(gated, node, instruction, arguments)
        elif name.startswith("llvm.memset"):
            self._checked_range(gated, node, instruction, arguments, (0,))
            self.externals.fill(gated, node, instruction, arguments[0], arguments[1], arguments[2])
        elif name.startswith("llvm.va_"):
            gated.program.imprecise["a variable argument list"] += 1
            self.externals.write_arguments(
                gated, node, instruction, arguments, None, "a variable argument list"
            )
        elif instruction.result is None:
            gated.program.imprecise[f"intrinsic {name}"] += 1
        else:
            try:
                value = intrinsic_function(name, instruction)(*arguments)
            except (Unsupported, TypeError):
                gated.give_up(node, instruction, f"intrinsic {name}")
                return
            gated.define(node, instruction, value)

    def _checked_range(
        self,
        gated: Gated,
        node: int,
        instruction: Instruction,
        arguments: tuple[Value, ...],
        pointers: tuple[int, ...],
    ) -> None:
        size = arguments[2]
        if size.__class__ is int and size == 0:
            return
        for position in pointers:
            what = "write" if position == 0 else "read"
            length = size if size.__class__ is int else None
            gated.access(node, arguments[position], length, instruction, what)


def _instantiated(site: Site, value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_instantiated(site, part) for part in value)
    return site.instantiate(value)

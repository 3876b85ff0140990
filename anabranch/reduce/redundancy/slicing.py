"""Dynamic slicing (3.2.2): over the items of a tape, last to first, from what is relevant behind them.

The position between two items is always one of these: in front of the instruction that ends a segment; in
front of an interpreted instruction; or, where a function was entered, still in its caller. An item that
begins a block includes the edge that led to it, so that the part of the path before it ends in front of the
branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anabranch.ir.module import Instruction
from anabranch.ir.values import Local
from anabranch.machine.bases import base_numbers
from anabranch.machine.tape import (
    ACCESSES,
    CALL,
    MODEL,
    PLAIN,
    RETURN,
    Exited,
    Failed,
    Forced,
    Interpreted,
    Jumped,
    Lost,
    ModelCall,
    Part,
    Segment,
    Stack,
    Tape,
    Touched,
    kind_of,
)
from anabranch.machine.translator.sites import PointSite
from anabranch.machine.translator.unit import Unit
from anabranch.reduce.redundancy.backward import (
    INSIDE,
    backward,
    cross_edge,
    result_of_call,
    stored_size,
    take_branch,
)
from anabranch.reduce.redundancy.facts import FunctionFacts, ProgramFacts
from anabranch.reduce.redundancy.items import (
    NOTES,
    Mark,
    block_of,
    call_before,
    following,
    goes_on,
)
from anabranch.reduce.redundancy.kernel import HANDLERS, Effect
from anabranch.reduce.redundancy.live import Frame, Live

Ahead = Callable[[Stack], bool]
"""Is there a goal that a path might reach if it did not end with these frames?"""


NO_CALLS: Mapping[int, int] = {}


class Slicer:
    """Slices tapes of one program."""

    def __init__(
        self,
        tape: Tape,
        program: ProgramFacts,
        ahead: Ahead,
        aim: Callable[[FunctionFacts], None],
        is_quiet: Callable[[str], bool],
        handlers_matter: Callable[[], bool],
        publish: Callable[[Any, Live], None],
    ) -> None:
        """`aim`: says which goals a function has. `is_quiet`: has it none, nor has what it calls?
        `handlers_matter`: may functions that run at the end of the program reach a goal? `publish`: is told
        what is relevant at a mark."""
        self.tape = tape
        self.program = program
        self.ahead = ahead
        self.publish = publish
        self.handlers_matter = handlers_matter
        self._aim = aim
        self._is_quiet = is_quiet
        self.items = 0
        """Items that were gone over."""
        self.skipped = 0
        """Items of calls in which nothing is relevant."""
        self._facts: dict[Unit, FunctionFacts] = {}

    def facts(self, unit: Unit) -> FunctionFacts:
        found = self._facts.get(unit)
        if found is None:
            found = self._facts[unit] = FunctionFacts(unit, self.program)
            self._aim(found)
        return found

    def goals_changed(self) -> None:
        for facts in self._facts.values():
            self._aim(facts)

    def program_ends(self, live: Live) -> None:
        """Functions that were registered for it run now."""
        if self.handlers_matter():
            live.add_part(HANDLERS)

    # ---- the walk ------------------------------------------------------------------------------------

    def walk(
        self,
        items: Sequence[Any],
        live: Live,
        before: Any,
        at_edge: bool = False,
        calls: Mapping[int, int] = NO_CALLS,
    ) -> None:
        """Go back over items; `before` is the last item that stands for an instruction in front of them. With
        `at_edge`, stop behind the branch that led to the first item. `calls`: see `whole_calls`."""
        skipped = 0
        segments = self.tape.segments
        position = len(items) - 1
        while position >= 0 and not live.top:
            item = items[position]
            kind = item.__class__
            position -= 1
            previous = items[position] if position >= 0 else before
            if kind is int or kind is tuple:
                segment = segments[item if kind is int else item[0]]
                came = previous.__class__
                simple = came is int or came is tuple or (came is ModelCall and segment.start)
                if simple and not live.halts and (position >= 0 or not at_edge):
                    if segment.kind == RETURN or segment.kind == CALL or not live.frames:
                        if position + 1 in calls and not live.wanted and self._skips(live, segment.unit):
                            first = calls[position + 1]
                            skipped += position + 2 - first
                            position = first - 1
                            live.entered = None
                            continue
                        self._leave(live, segment)
                    inside = segment.start or not segment.block
                    block = INSIDE if inside else segments[previous if came is int else previous[0]].block
                    step = segment.steps.get(block)
                    if step is None:
                        step = backward(self.facts(segment.unit), segment, block)
                    step(live.frames[-1], live, item, ())
                    if inside:
                        self._head(live, self.facts(segment.unit), segment)
                    continue
                position = self._segment(items, position, live, segment, item, before, at_edge)
            elif kind is Part:
                position = self._segment(items, position, live, item.segment, item.item, before, at_edge)
            elif kind is Interpreted:
                position = self._interpreted(items, position, live, item, before, at_edge)
            elif kind is ModelCall:
                self._model(live, item, call_before(items, position, before, segments))
            elif kind is Failed:
                self._failed(live, item, items, position)
            elif kind is Exited:
                live.frames = []
                live.entered = None
                live.wanted = False
                live.halts = self.ahead(item.stack)
                self.program_ends(live)
            elif kind is Jumped or (kind is Lost and self.ahead(item.stack)):
                live.top = True
            elif kind is Mark and not item.begins_segment:
                self._publish(item.point, live)
        self.items += len(items) - skipped
        self.skipped += skipped

    def _skips(self, live: Live, unit: Unit) -> bool:
        """Is nothing in a call relevant, whose result is not?"""
        facts = self.facts(unit)
        if not self._is_quiet(unit.function.name):
            return False
        objects, places = facts.call_may_write
        return not live.objects & objects and not live.meets(places)

    def _segment(
        self,
        items: Sequence[Any],
        position: int,
        live: Live,
        segment: Segment,
        item: Any,
        before: Any,
        at_edge: bool,
    ) -> int:
        """A segment that something happened in or before; where to go on."""
        facts = self.facts(segment.unit)
        touched: list[Touched] = []
        forced: list[Forced] = []
        marks: list[Mark] = []
        while position >= 0 and items[position].__class__ in NOTES:
            found = items[position]
            position -= 1
            if isinstance(found, Touched):
                touched.append(found)
            elif isinstance(found, Forced):
                forced.append(found)
            elif isinstance(found, Mark):
                marks.append(found)
            elif self.ahead(found.stack):
                live.top = True
                return -1
        self._leave(live, segment)
        frame = live.frames[-1]
        if live.halts:
            live.halts = False
            frame.needed |= 1 << segment.block
            frame.matters = True
        for one in forced:
            if self.ahead(one.stack):
                self._decides(live, facts, one, touched)
        backward(facts, segment)(frame, live, item, touched)
        for mark in marks:
            if mark.begins_segment:
                self.publish(mark.point, live)
        if not segment.start and segment.block:
            if position < 0 and at_edge:
                return -1
            source = block_of(items, position, before, self.tape.segments)
            by_edge = cross_edge(facts, frame, live, source, segment.block)
            take_branch(facts, frame, live, source, by_edge)
        else:
            self._head(live, facts, segment)
        for mark in marks:
            if not mark.begins_segment:
                self._publish(mark.point, live)
        return position

    def _publish(self, point: Any, live: Live) -> None:
        """What is relevant at a mark in front of an instruction. If that is a call which was left through the
        beginning of the callee, what it hands over is relevant, too."""
        site = point.site
        if isinstance(site, PointSite) and (live.entered is not None or live.wanted):
            live = live.copy()
            self._called(live, self.facts(site.unit), site.instruction, site.block, site.position)
        self.publish(point, live)

    def _leave(self, live: Live, segment: Segment) -> None:
        """The call or terminator that ends a segment, seen from behind it."""
        if segment.kind == PLAIN or segment.kind == MODEL:
            if not live.frames:
                live.frames.append(Frame())
            return
        facts = self.facts(segment.unit)
        if segment.kind == RETURN:
            self._returned(live, facts, segment.last, segment.block)
        else:
            self._called(live, facts, segment.last, segment.block, segment.end)

    def _returned(self, live: Live, facts: FunctionFacts, instruction: Instruction, block: int) -> None:
        frame = Frame()
        if live.wanted:
            live.wanted = False
            frame.registers = facts.operands(instruction.operands)
            frame.needed, frame.matters = 1 << block, True
        live.entered = None
        live.frames.append(frame)

    def _called(self, live: Live, facts: FunctionFacts, call: Instruction, block: int, position: int) -> None:
        """A call that was left backwards through its beginning, or that has not been seen inside."""
        frame = live.frame
        if isinstance(call.operands[0], Local) and (
            facts.aims >> block & 1 or live.objects & facts.may_write_at(block, position)
        ):  # another function might be called
            frame.registers |= facts.registers(call.operands[0])
            frame.needed |= 1 << block
            frame.matters = True
        if live.entered is not None:
            callee, inner = live.entered
            live.entered = None
            operands, params = call.operands[1:], callee.function.params
            if inner.registers:
                for position, param in enumerate(params):
                    if inner.registers >> param.index & 1 and position < len(operands):
                        frame.registers |= facts.registers(operands[position])
            if callee.function.vararg and inner.registers >> callee.plan.varargs_index & 1:
                frame.registers |= facts.operands(operands[len(params) :])
            if inner.matters or live.wanted:
                frame.registers |= facts.registers(call.operands[0])
            if inner.matters:
                frame.needed |= 1 << block
                frame.matters = True
        elif live.wanted:
            frame.registers |= facts.operands(call.operands)
        live.wanted = False

    def _head(self, live: Live, facts: FunctionFacts, segment: Segment) -> None:
        """In front of the first instruction of a segment that does not follow a branch."""
        if not segment.start:
            live.entered = (facts, live.frames.pop())
            return
        result = result_of_call(segment)
        frame = live.frame
        if frame.registers & result:
            frame.registers &= ~result
            live.wanted = True

    def behind_call(self, live: Live, unit: Unit, block: int, position: int) -> None:
        """From behind a call to where it returns."""
        self._head(live, self.facts(unit), Segment(unit, block, position, position, -1))

    # ---- single instructions -------------------------------------------------------------------------

    def _interpreted(
        self, items: Sequence[Any], position: int, live: Live, item: Interpreted, before: Any, at_edge: bool
    ) -> int:
        facts = self.facts(item.unit)
        instructions = facts.plan.blocks[item.block].instructions
        instruction = instructions[item.position]
        kind = kind_of(item.unit.program, instruction)
        if kind == RETURN:
            self._returned(live, facts, instruction, item.block)
        elif kind == CALL:
            self._called(live, facts, instruction, item.block, item.position)
        frame = live.frame
        if live.halts:
            live.halts = False
            frame.needed |= 1 << item.block
            frame.matters = True
        touched = [one for one in following(items, position + 2) if isinstance(one, Touched)]
        for one in following(items, position + 2):
            if isinstance(one, Forced) and self.ahead(one.stack):
                self._decides(live, facts, one, touched)
        if kind == PLAIN and not instruction.is_terminator:
            self._run(live, facts, frame, item, instruction, touched)
            if (item.block, item.position) in facts.may_fail:
                address = item.address
                failed = Failed(item.unit, item.block, item.position, address)
                self._decides(live, facts, failed, touched)
        last = position
        while last >= 0 and items[last].__class__ in NOTES:
            last -= 1
        previous = items[last] if last >= 0 else before
        if goes_on(previous, item, self.tape.segments):
            return position
        start = item.position
        while start and (
            instructions[start - 1].opcode == "phi" or facts.plan.is_repetition(instructions[start - 1])
        ):
            start -= 1
        if start:
            for mark in items[last + 1 : position + 1]:
                if isinstance(mark, Mark) and mark.begins_segment:
                    self.publish(mark.point, live)
            self.behind_call(live, item.unit, item.block, start)
        elif not item.block:
            live.entered = (facts, live.frames.pop())
        else:
            if last < 0 and at_edge:
                return -1
            source = block_of(items, last, before, self.tape.segments)
            by_edge = cross_edge(facts, frame, live, source, item.block)
            take_branch(facts, frame, live, source, by_edge)
        return position

    def _run(
        self,
        live: Live,
        facts: FunctionFacts,
        frame: Frame,
        item: Interpreted,
        instruction: Instruction,
        touched: list[Touched],
    ) -> None:
        result = 1 << instruction.result.index if instruction.result is not None else 0
        operands = facts.operands(instruction.operands)
        if instruction.opcode not in ACCESSES:
            if frame.registers & result:
                frame.registers = frame.registers & ~result | operands
            return
        if instruction.opcode == "load":
            if frame.registers & result:
                frame.registers = frame.registers & ~result | operands
                live.add(item.address, instruction.type.size, touched)
            return
        store = instruction.opcode == "store"
        type = instruction.operands[0 if store else 1].type
        size = stored_size(type)
        if size:
            hit = live.written(item.address, size, touched)
        else:
            hit = live.copy().written(item.address, type.size, touched)
        if hit or frame.registers & result:
            frame.registers = frame.registers & ~result | operands
            frame.needed |= 1 << item.block
            frame.matters = True
            if not store:
                live.add(item.address, type.size, touched)
        else:
            pointer = instruction.operands[1 if store else 0]
            if facts.pointed(pointer) & live.objects:
                frame.registers |= facts.registers(pointer)

    def _decides(
        self, live: Live, facts: FunctionFacts, item: Forced | Failed, touched: Sequence[Touched]
    ) -> None:
        """It is relevant whether an instruction fails."""
        frame = live.frame
        instruction = facts.plan.blocks[item.block].instructions[item.position]
        frame.registers |= facts.operands(instruction.operands)
        frame.needed |= 1 << item.block
        frame.matters = True
        if item.address is None:
            return
        if item.address.__class__ is int:
            live.add_object(item.address)
            return
        for one in touched:
            live.add_object(one.address)
        numbers = base_numbers(item.address)
        if numbers is None and not touched:
            live.top = True  # any object may be the one that it leads to
        for number in numbers or ():
            live.add_object(number << 32)

    def _failed(self, live: Live, item: Failed, items: Sequence[Any], position: int) -> None:
        if not live.halts:
            return
        facts = self.facts(item.unit)
        before = items[position] if position >= 0 else None
        if isinstance(before, ModelCall) and before.failed and not before.copies:
            return  # it knows what it has looked at
        live.halts = False
        self._decides(live, facts, item, ())

    # ---- models --------------------------------------------------------------------------------------

    def _model(self, live: Live, call: ModelCall, found: tuple[Unit, int, int]) -> None:
        unit, block, position = found
        instruction = unit.plan.blocks[block].instructions[position]
        facts = self.facts(unit)
        frame = live.frame
        if call.copies:
            self._copy(live, call)
            return
        relevant = live.wanted
        live.wanted = False
        result = 1 << instruction.result.index if instruction.result is not None else 0
        if frame.registers & result:
            frame.registers &= ~result
            relevant = True
        if call.failed and live.halts:
            relevant = True
        elif live.halts:  # the program has ended itself in it
            frame.needed |= 1 << block
            frame.matters = True
        live.halts = False
        if call.forced is not None and self.ahead(call.forced):
            relevant = True
        memory = False
        for address, size in call.writes:
            if live.written(address, size):
                memory = True
        for number in call.objects:
            if ("object", number) in live.parts:
                live.parts.discard(("object", number))
                relevant = True
        if (block, position) in facts.may_fail:
            relevant = True
        effect = Effect(call)
        if relevant or memory or (live.parts and effect.writes(live.parts)):
            self._depends(live, frame, facts, call, instruction, block, effect, memory)
        else:
            self._might_write(live, frame, facts, block, position, effect)

    def _depends(
        self,
        live: Live,
        frame: Frame,
        facts: FunctionFacts,
        call: ModelCall,
        instruction: Instruction,
        block: int,
        effect: Effect,
        memory: bool,
    ) -> None:
        """What the result and the effects of a call depend on."""
        if call.guessed or call.opaque:
            live.top = True
            return
        frame.registers |= facts.operands(instruction.operands)
        if call.name == "va_start":
            frame.registers |= 1 << facts.plan.varargs_index
        frame.needed |= 1 << block
        frame.matters = True
        reads, depends = effect.reads(live.parts, memory), effect.depends(live.parts, memory)
        live.parts -= effect.made
        for key in depends:
            live.add_part(key)
        for address, size in reads:
            live.add(address, size)
        numbers = {address >> 32 for address, _ in (*reads, *call.writes)}
        numbers.update(a >> 32 for a in call.arguments if a.__class__ is int and a >> 32)
        for number in numbers - call.objects:
            live.add_part(("object", number))

    def _might_write(
        self, live: Live, frame: Frame, facts: FunctionFacts, block: int, position: int, effect: Effect
    ) -> None:
        """A call that has written nothing relevant: with other arguments it might."""
        if live.parts and effect.might_write(live.parts):
            for key in effect.chooses:
                live.add_part(key)
        elif not live.objects & facts.may_write_at(block, position):
            return
        frame.registers |= facts.operands(facts.plan.blocks[block].instructions[position].operands)

    def _copy(self, live: Live, call: ModelCall) -> None:
        """A struct that is passed by value."""
        relevant = call.failed
        for address, size in call.writes:
            if live.written(address, size):
                relevant = True
        if not relevant:
            return
        for address, size in call.reads:
            live.add(address, size)
        if live.entered is not None:
            live.entered[1].matters = True
        pointer = call.arguments[0]
        if pointer.__class__ is int:
            live.add_object(pointer)
        else:
            live.top = True

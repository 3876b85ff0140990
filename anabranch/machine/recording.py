"""A machine that writes a tape.

Its memory, models, addresses and interpreter are subclasses that also note what they do; translated code is
written with the lines that append to the tape. It is chosen when the machine is made: any other machine has
nothing of this in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from anabranch.expr import Expr, expr_vars
from anabranch.ir.module import Instruction
from anabranch.machine.addresses import AddressResolver
from anabranch.machine.api import ModelApi
from anabranch.machine.ends import Exit, LongJump
from anabranch.machine.forking import INTERPRETER_CODE
from anabranch.machine.interpreter import Frame, Interpreter, Return
from anabranch.machine.machine import Machine
from anabranch.machine.memory import Memory
from anabranch.machine.objects import AllocationSite, ObjectInfo, ObjectNumbers
from anabranch.machine.pages import Page
from anabranch.machine.run_time import RunTime
from anabranch.machine.tape import (
    ACCESSES,
    JUMPED,
    MODEL,
    Exited,
    Interpreted,
    Lost,
    ModelCall,
    Part,
    Stack,
    Tape,
    Touched,
    address_operand,
    kind_of,
    stack_of,
)
from anabranch.machine.translator.program import IntrinsicFinder, Model, ModelFinder, TranslatedProgram
from anabranch.machine.translator.sites import PointSite
from anabranch.machine.varargs import Argument

Value = Any
R = TypeVar("R")


class RecordingMachine(Machine):
    """A machine whose running path writes a tape."""

    memory: RecordingMemory

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.tape = Tape()
        self.records = True
        super().__init__(*arguments, **named)

    def stop_recording(self) -> None:
        """Take the tape out of all code. No path may be running."""
        self.records = False
        self.tape.items.clear()
        self.program.tape = None
        self.program.translate_anew()
        self.interpreter = self.program.interpreter = super().make_interpreter()

    # ---- parts ---------------------------------------------------------------------------------------

    def make_memory(self) -> Memory:
        return RecordingMemory(self.numbers, self.tape)

    def make_api(self) -> ModelApi:
        return RecordingApi(self)

    def make_run_time(self) -> RunTime:
        return RecordingRunTime(self)

    def make_addresses(self) -> AddressResolver:
        return RecordingResolver(self)

    def make_interpreter(self) -> Interpreter:
        return RecordingInterpreter(self)

    def make_program(
        self, overridden: frozenset[str], models: ModelFinder, intrinsics: IntrinsicFinder
    ) -> TranslatedProgram:
        def model(name: str) -> Model | None:
            found = models(name)
            return partial(self.noted, name, found) if self.records and found is not None else found

        def intrinsic(name: str, call: Instruction) -> Callable[..., Any]:
            found = intrinsics(name, call)
            is_noted = self.records and kind_of(self.program, call) == MODEL
            return partial(self.noted, name, found) if is_noted else found

        program = super().make_program(overridden, model, intrinsic)
        program.tape = self.tape
        return program

    def fill_namespace(self) -> None:
        """Translated code writes its accesses to the tape itself, and has the plain functions for them."""
        super().fill_namespace()
        self.namespace.names.update(self.memory.plain(), T=self.tape.items)

    # ---- calls of models -----------------------------------------------------------------------------

    def noted(self, name: str, function: Callable[..., R], *arguments: Any) -> R:
        """Call a model, and note what it does."""
        if not self.records:
            return function(*arguments)
        tape, path = self.tape, self.path
        made = tape.call = ModelCall(name, arguments, path.notes, path.inputs)
        ended: Any = None
        try:
            return function(*arguments)
        except Exit:
            ended = Exited(self.stack())
            raise
        except LongJump:
            ended = JUMPED
            raise
        except BaseException:
            made.failed = True
            raise
        finally:
            tape.call = None
            made.after = path.notes
            tape.append(made)
            if ended is not None:
                tape.append(ended)

    def stack(self) -> Stack:
        """Where all frames of the running path stand."""
        where = self.where()
        return () if where is None else stack_of(where.unit, where.block, where.position, where.continuation)

    # ---- inputs that go no further -------------------------------------------------------------------

    def assume(self, condition: Value) -> bool:
        call = self.tape.call
        if call is not None and condition.__class__ is Expr and not self._is_about_new(condition, call):
            call.forced = self.stack()
        return super().assume(condition)

    def lose(self, kind: str) -> None:
        if self.records:
            self.tape.append(Lost(self.stack()))
        super().lose(kind)

    def _is_about_new(self, condition: Expr, call: ModelCall) -> bool:
        """Does a condition restrict nothing but inputs that the running call of a model has made?"""
        new: set[int] = set()
        inputs = self.path.inputs
        while inputs is not None and inputs is not call.inputs:
            new.update(variable.a for variable in inputs[0].variables)
            inputs = inputs[1]
        return all(index in new for index in expr_vars(condition))

    # ---- segments ------------------------------------------------------------------------------------

    def part_before(self, site: PointSite) -> Part | None:
        """What of a segment has run before the instruction that the running path waits at, and is not yet on
        the tape."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if id(frame.f_code) in self.program.codes:
                return self.tape.part(site.unit, site.block, site.position, frame.f_locals)
            if frame.f_code is INTERPRETER_CODE:
                return None
            frame = frame.f_back
        return None


class RecordingMemory(Memory):
    """Notes what models read and write, and where objects were made."""

    def __init__(self, numbers: ObjectNumbers, tape: Tape) -> None:
        super().__init__(numbers)
        self._tape = tape

    def plain(self) -> dict[str, Callable[..., Any]]:
        """What writes nothing down, by name."""
        return {"load": super().load, "store": super().store, "alloca": super().allocate}

    def load(self, address: Value, size: int) -> Value:
        call = self._tape.call
        if call is not None and address.__class__ is int:
            call.reads.append((address, size))
        return super().load(address, size)

    def contents(self, address: int, size: int) -> list[Value]:
        call = self._tape.call
        if call is not None:
            call.reads.append((address, size))
        return super().contents(address, size)

    def concrete_bytes(self, address: int, size: int) -> bytes | None:
        call = self._tape.call
        if call is not None:
            call.reads.append((address, size))
        return super().concrete_bytes(address, size)

    def store(self, address: Value, size: int, value: Value) -> None:
        call = self._tape.call
        if call is not None and address.__class__ is int:
            call.writes.append((address, size))
        super().store(address, size, value)

    def overwrite(self, address: int, data: Sequence[Value]) -> None:
        call = self._tape.call
        if call is not None:
            call.writes.append((address, len(data)))
        super().overwrite(address, data)

    def copied(self, to: Value, source: Value, size: int) -> bool:
        done = super().copied(to, source, size)
        call = self._tape.call
        if done and call is not None:
            call.reads.append((source, size))
            call.writes.append((to, size))
        return done

    def release(self, info: ObjectInfo, how: str) -> None:
        call = self._tape.call
        if call is not None:
            call.objects.add(info.id)
        super().release(info, how)

    def allocate(
        self,
        site: AllocationSite,
        size: int,
        content: bytes | None = None,
        zero: bool = False,
        base: int | None = None,
    ) -> int:
        made = super().allocate(site, size, content, zero, base)
        self._tape.sites[made >> 32] = site
        call = self._tape.call
        if call is not None:
            call.objects.add(made >> 32)
        return made

    def share(self, pages: dict[int, Page]) -> None:
        call = self._tape.call
        if call is not None:
            call.opaque = True
        super().share(pages)


class RecordingApi(ModelApi):
    """Notes where models guess."""

    machine: RecordingMachine

    def sample(self, value: Value, width: int, why: str = "") -> int:
        call = self.machine.tape.call
        if call is not None and value.__class__ is Expr:
            call.guessed = True
        return super().sample(value, width, why)


class RecordingRunTime(RunTime):
    """Notes the run-time functions that use memory as models do."""

    machine: RecordingMachine

    def copy_argument(self, pointer: Value, site: AllocationSite) -> int:
        return self.machine.noted("copy_argument", super().copy_argument, pointer, site)

    def va_start(
        self, va_list: Value, arguments: tuple[Argument, ...], general: int, floating: int, exact: bool
    ) -> tuple[int, ...]:
        return self.machine.noted("va_start", super().va_start, va_list, arguments, general, floating, exact)


class RecordingResolver(AddressResolver):
    """Notes which objects symbolic addresses lead to, for translated code and the interpreter."""

    machine: RecordingMachine

    def resolve(self, address: Expr, size: int, write: bool) -> tuple[ObjectInfo, Value]:
        info, offset = super().resolve(address, size, write)
        if self.machine.records and self.machine.tape.call is None:
            self.machine.tape.append(Touched(info.base, info.size))
        return info, offset

    def defined(self, address: Expr) -> Value:
        known = super().defined(address)
        machine = self.machine
        if known.__class__ is int and machine.records and machine.tape.call is None:
            info = self.memory.find(known >> 32)
            machine.tape.append(Touched(known & ~0xFFFFFFFF, info.size if info is not None else 1))
        return known


class RecordingInterpreter(Interpreter):
    """Notes every instruction that it is about to run."""

    def __init__(self, machine: RecordingMachine) -> None:
        super().__init__(machine, machine.program)
        self._append = machine.tape.append

    def step(self, frame: Frame, instruction: Instruction) -> int | Return | None:
        if frame.unit.plan.blocks[frame.block].instructions[frame.position] is instruction:
            address = None
            if instruction.opcode in ACCESSES:
                address = self.value(frame, address_operand(instruction))
            self._append(Interpreted(frame.unit, frame.block, frame.position, address))
        return super().step(frame, instruction)

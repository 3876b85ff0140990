"""Makes a machine write a tape.

Translated code is written with the lines that append to it, models run in a wrapper that notes what they read
and write, and the interpreter is replaced by one that notes its instructions. Nothing of this is there unless
somebody asks for a tape, before any code is translated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING, Any

from anabranch.expr import Expr, expr_vars
from anabranch.ir.module import Instruction
from anabranch.machine.ends import Exit, LongJump
from anabranch.machine.forking import INTERPRETER_CODE
from anabranch.machine.interpreter import Frame, Interpreter, Return
from anabranch.machine.tape import (
    ACCESSES,
    JUMPED,
    MODEL,
    Exited,
    Interpreted,
    Lost,
    ModelCall,
    Part,
    Tape,
    Touched,
    address_operand,
    kind_of,
    stack_of,
)
from anabranch.machine.translator.sites import PointSite

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any


class RecordingInterpreter(Interpreter):
    """Notes every instruction that it is about to run."""

    tape: Tape

    def step(self, frame: Frame, instruction: Instruction) -> int | Return | None:
        if frame.unit.plan.blocks[frame.block].instructions[frame.position] is instruction:
            address = None
            if instruction.opcode in ACCESSES:
                address = self.value(frame, address_operand(instruction))
            self.tape.append(Interpreted(frame.unit, frame.block, frame.position, address))
        return super().step(frame, instruction)


def record(machine: Machine) -> Tape:
    """Let a machine that has translated nothing yet write a tape."""
    recorder = _Recorder(machine)
    recorder.watch_memory()
    recorder.watch_models()
    recorder.watch_addresses()
    recorder.watch_assumptions()
    interpreter = RecordingInterpreter(machine, machine.program)
    interpreter.tape = recorder.tape
    machine.interpreter = machine.program.interpreter = interpreter
    return recorder.tape


def part_before(machine: Machine, tape: Tape, site: PointSite) -> Part | None:
    """What of a segment has run before the instruction that the running path waits at, and is not yet on the
    tape."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if id(frame.f_code) in machine.program.codes:
            return tape.part(site.unit, site.block, site.position, frame.f_locals)
        if frame.f_code is INTERPRETER_CODE:
            return None
        frame = frame.f_back
    return None


class _Recorder:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.tape = tape = Tape(machine.program)
        machine.program.tape = tape
        machine.namespace.names["T"] = tape.append

    # ---- models --------------------------------------------------------------------------------------

    def watch_models(self) -> None:
        program, run_time, names = self.machine.program, self.machine.run_time, self.machine.namespace.names
        program.wrap_models(self._recorded, self._recorded_intrinsic)
        for name in ("copy_argument", "va_start"):
            wrapped = self._recorded(name, getattr(run_time, name))
            names[name] = wrapped
            setattr(run_time, name, wrapped)

    def _recorded_intrinsic(
        self, name: str, instruction: Instruction, function: Callable[..., Any]
    ) -> Callable[..., Any]:
        recorded = kind_of(self.machine.program, instruction) == MODEL
        return self._recorded(name, function) if recorded else function

    def _recorded(self, name: str, model: Callable[..., Any]) -> Callable[..., Any]:
        tape, path = self.tape, self.machine.path
        append = tape.append
        copies = name == "copy_argument"

        @wraps(model)
        def call(*arguments: Any) -> Any:
            made = tape.call = ModelCall(name, arguments, path.notes, copies=copies)
            made_inputs = path.inputs
            self.inputs = made_inputs
            ended: Any = None
            try:
                return model(*arguments)
            except Exit:
                ended = Exited(self._stack())
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
                append(made)
                if ended is not None:
                    append(ended)

        return call

    def _stack(self) -> Any:
        where = self.machine.where()
        return () if where is None else stack_of(where.unit, where.block, where.continuation)

    # ---- memory --------------------------------------------------------------------------------------

    def watch_memory(self) -> None:
        """What models read and write; translated code keeps its own way to load and store."""
        tape, memory, api = self.tape, self.machine.memory, self.machine.api

        def reading(read: Callable[..., Any]) -> Callable[..., Any]:
            def observed(address: Value, size: int, *rest: Any) -> Any:
                if tape.call is not None and address.__class__ is int:
                    tape.call.reads.append((address, size))
                return read(address, size, *rest)

            return observed

        def writing(write: Callable[..., Any], size_of: Callable[[Any], int]) -> Callable[..., Any]:
            def observed(address: Value, given: Any, *rest: Any) -> Any:
                if tape.call is not None and address.__class__ is int:
                    tape.call.writes.append((address, size_of(given)))
                return write(address, given, *rest)

            return observed

        for name in ("load", "contents", "concrete_bytes"):
            setattr(memory, name, reading(getattr(memory, name)))
        memory.store = writing(memory.store, int)  # type: ignore[method-assign]
        memory.overwrite = writing(memory.overwrite, len)  # type: ignore[method-assign]
        api.load, api.store = memory.load, memory.store
        copied, release, allocate, share = memory.copied, memory.release, memory.allocate, memory.share

        def observed_copy(to: Value, source: Value, size: int) -> bool:
            done = copied(to, source, size)
            if done and tape.call is not None:
                tape.call.reads.append((source, size))
                tape.call.writes.append((to, size))
            return done

        def observed_release(info: Any, how: str) -> None:
            if tape.call is not None:
                tape.call.objects.add(info.id)
            release(info, how)

        def observed_allocate(*arguments: Any, **named: Any) -> int:
            base = allocate(*arguments, **named)
            tape.sites[base >> 32] = arguments[0]
            if tape.call is not None:
                tape.call.objects.add(base >> 32)
            return base

        def observed_share(pages: dict[int, Any]) -> None:
            if tape.call is not None:
                tape.call.opaque = True
            share(pages)

        memory.copied = observed_copy  # type: ignore[method-assign]
        memory.release = observed_release  # type: ignore[method-assign]
        memory.allocate = observed_allocate  # type: ignore[method-assign]
        memory.share = observed_share  # type: ignore[method-assign]

    # ---- addresses -----------------------------------------------------------------------------------

    def watch_addresses(self) -> None:
        """Which objects symbolic addresses lead to, for translated code and the interpreter."""
        tape, addresses, memory = self.tape, self.machine.addresses, self.machine.memory
        resolve, defined = addresses.resolve, addresses.defined

        def observed_resolve(address: Expr, size: int, write: bool) -> Any:
            info, offset = resolve(address, size, write)
            if tape.call is None:
                tape.append(Touched(info.base, info.size))
            return info, offset

        def observed_defined(address: Expr) -> Value:
            known = defined(address)
            if known.__class__ is int and tape.call is None:
                info = memory.find(known >> 32)
                tape.append(Touched(known & ~0xFFFFFFFF, info.size if info is not None else 1))
            return known

        addresses.resolve = observed_resolve  # type: ignore[method-assign]
        addresses.defined = observed_defined  # type: ignore[method-assign]

    # ---- inputs that go no further -------------------------------------------------------------------

    def watch_assumptions(self) -> None:
        tape, machine = self.tape, self.machine
        assume, lose, sample = machine.assume, machine.lose, machine.api.sample

        def observed_assume(condition: Value) -> bool:
            if tape.call is not None and condition.__class__ is Expr and not self._is_about_new(condition):
                tape.call.forced = self._stack()
            return assume(condition)

        def observed_lose(kind: str) -> None:
            tape.append(Lost(self._stack()))
            lose(kind)

        def observed_sample(value: Value, width: int, why: str = "") -> int:
            if tape.call is not None and value.__class__ is Expr:
                tape.call.guessed = True
            return sample(value, width, why)

        machine.assume = observed_assume  # type: ignore[method-assign]
        machine.lose = observed_lose  # type: ignore[method-assign]
        machine.api.sample = observed_sample  # type: ignore[method-assign]

    def _is_about_new(self, condition: Expr) -> bool:
        """Does a condition restrict nothing but inputs that the running call of a model has made?"""
        new: set[int] = set()
        inputs = self.machine.path.inputs
        while inputs is not None and inputs is not self.inputs:
            new.update(variable.a for variable in inputs[0].variables)
            inputs = inputs[1]
        return all(index in new for index in expr_vars(condition))

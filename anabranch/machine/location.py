"""Where in the program something happened: the location, and the call stack with argument values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import Function
from anabranch.machine.forking import INTERPRETER_CODE
from anabranch.machine.state import Continuation, callers

if TYPE_CHECKING:
    from anabranch.machine.translator.program import TranslatedProgram
    from anabranch.machine.translator.unit import Unit


@dataclass(frozen=True, slots=True)
class Where:
    """An instruction of the program with the values of its frame."""

    unit: Unit
    block: int
    position: int
    values: dict[str, Any]
    continuation: Continuation

    @property
    def function(self) -> Function:
        return self.unit.function

    @property
    def loc(self) -> DebugLoc | None:
        return source_loc(self.unit, self.block, self.position)

    @property
    def text_line(self) -> int:
        """The line of the instruction in the module's text."""
        return self.unit.plan.blocks[self.block].instructions[self.position].text_line

    @property
    def place(self) -> int:
        """The number of the counter of its segment."""
        return self.unit.counters.covering(self.block, self.position)

    @property
    def key(self) -> tuple[str, int, int]:
        return (self.function.name, self.block, self.position)

    def text(self) -> str:
        loc = self.loc
        return f"{loc.file}:{loc.line}" if loc is not None else self.function.name


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One frame of a call stack."""

    function: str
    file: str
    line: int
    text_line: int
    arguments: tuple[tuple[str, Any], ...]


def source_loc(unit: Unit, block: int, position: int) -> DebugLoc | None:
    """The source location of an instruction, or of the nearest one before it.

    Blocks that the compiler made up have none, such as the one where all computed gotos of a function come
    together: there it is the location of the jump that leads to the block, or of the function if there are
    several such jumps.
    """
    instructions = unit.plan.blocks[block].instructions
    for instruction in reversed(instructions[: position + 1]):
        if instruction.loc is not None and instruction.loc.line:
            return instruction.loc
    for instruction in instructions[position:]:
        if instruction.loc is not None and instruction.loc.line:
            return instruction.loc
    seen = {block}
    while len(before := unit.plan.predecessors[block]) == 1 and before[0] not in seen:
        (block,) = before
        seen.add(block)
        for instruction in reversed(unit.plan.blocks[block].instructions):
            if instruction.loc is not None and instruction.loc.line:
                return instruction.loc
    return unit.loc


def of_frame(program: TranslatedProgram, frame: FrameType, line: int) -> Where | None:
    """The location that a Python frame stands at, if the frame is one of the program's."""
    known = program.codes.get(id(frame.f_code))
    if known is not None:
        unit, marks = known
        mark = marks.get(line)
        while mark is None and line > 1:
            line -= 1
            mark = marks.get(line)
        block, position = (mark.block, mark.position) if mark is not None else (0, 0)
        values = dict(frame.f_locals)
        return Where(unit, block, position, values, values["K"])
    if frame.f_code is INTERPRETER_CODE:
        running = frame.f_locals.get("frame")
        if running is not None:
            return Where(
                running.unit, running.block, running.position, running.registers, running.continuation
            )
    return None


def of_caller(program: TranslatedProgram, frame: FrameType | None) -> Where | None:
    """The innermost location of the program on the Python stack."""
    while frame is not None:
        where = of_frame(program, frame, frame.f_lineno)
        if where is not None:
            return where
        frame = frame.f_back
    return None


def of_traceback(program: TranslatedProgram, traceback: TracebackType | None) -> Where | None:
    """The innermost location of the program that an exception passed through."""
    found: tuple[FrameType, int] | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if id(code) in program.codes or code is INTERPRETER_CODE:
            found = (traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next
    return of_frame(program, *found) if found is not None else None


def stack(where: Where) -> Iterator[StackFrame]:
    """The frames from the innermost outwards."""
    yield _stack_frame(where.unit, where.block, where.position, where.values)
    for continuation in callers(where.continuation):
        site = continuation[1]
        values = dict(zip(site.names, continuation[3:], strict=True))
        yield _stack_frame(site.unit, site.block, site.position, values)


def _stack_frame(unit: Unit, block: int, position: int, values: dict[str, Any]) -> StackFrame:
    function = unit.function
    loc = source_loc(unit, block, position)
    arguments = []
    for number, (param, name) in enumerate(zip(function.params, function.param_names, strict=True)):
        arguments.append((name or f"arg{number}", values.get(f"v{param.index}")))
    source = function.subprogram.name if function.subprogram is not None else function.name
    text_line = unit.plan.blocks[block].instructions[position].text_line
    file, line = (loc.file, loc.line) if loc is not None else ("", 0)
    return StackFrame(source, file, line, text_line, tuple(arguments))

"""Proof that a program uses uninitialised memory where the engine says so: by what is in that memory.

No check of the toolchain tells natively that a value was never written. But runs that differ in nothing
except the contents of fresh memory, and in which nevertheless other values stand at the line in question,
prove it. The program is built once more: new stack objects and heap blocks are filled as the run is told
(`native/fresh.c`), and the values used and computed at the lines in question are recorded.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from anabranch.ir import read_module
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import IntType, PointerType, Type
from anabranch.ir.values import ConstInt, Local
from anabranch.replay.instrument import Insertion

KIND = "uninitialised"
FILLINGS = (0, 1, 2, 3, 0)
"""Contents of fresh memory in turn; the last run has to be like the first."""
SIZE = 16  # bytes of the record
_LIBRARY = "/anabranch/"
_RESULT = re.compile(r"\s*(%(?:[\w.$-]+|\"[^\"]*\")) = ")
_TERMINATORS = frozenset(("br", "switch", "ret", "unreachable", "indirectbr", "invoke", "resume"))
_DECLARED = "\ndeclare void @anabranch_fill(ptr, i64)\ndeclare void @anabranch_witness(i64)\n"

Line: TypeAlias = tuple[str, int]


def lines_of_errors(run_directory: Path) -> dict[int, Line]:
    """Test -> line of the program's own code at which its path used uninitialised memory.

    An error is told once, with one test; others may end in it too, because they covered something new.
    """
    found: dict[int, Line] = {}
    for test in _documents(run_directory / "tests.jsonl"):
        if test.get("kind") == KIND and test.get("file") and test.get("line"):
            found[int(test["test"])] = (str(test["file"]), int(test["line"]))
    for run in _documents(run_directory / "run.json", whole=True):
        for error in run.get("errors", ()):
            if error.get("kind") != KIND or error.get("test") is None:
                continue
            frames = [error, *error.get("stack", ())]
            own = [frame for frame in frames if not str(frame.get("file", "")).startswith(_LIBRARY)]
            if own and own[0].get("file") and own[0].get("line"):
                found[int(error["test"])] = (str(own[0]["file"]), int(own[0]["line"]))
    return found


def _documents(path: Path, whole: bool = False) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line or one in all; a killed run leaves the last one open."""
    try:
        text = path.read_text("utf-8")
    except OSError:
        return
    for part in [text] if whole else text.splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(part)


def _result(module: Insertion, instruction: Instruction) -> str | None:
    found = _RESULT.match(module.lines[instruction.text_line - 1])
    return found[1] if found else None


def with_witnesses(text: str, wanted: Iterable[Line]) -> str:
    """A module whose stack objects are filled and whose values at the lines wanted are recorded."""
    lines = frozenset(wanted)
    writer = Insertion(text)
    for function in read_module(text).defined_functions():
        _function(writer, function, lines)
    return "\n".join(writer.inserted()) + _DECLARED


def _function(writer: Insertion, function: Function, wanted: frozenset[Line]) -> None:
    sizes: dict[int, tuple[str, int]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            following = instruction.text_line + 1
            if instruction.opcode == "alloca":
                name = _result(writer, instruction)
                assert name is not None and instruction.result is not None
                assert isinstance(instruction.extra, Type)
                count = instruction.operands[0]
                if isinstance(count, ConstInt):
                    size = count.value * instruction.extra.size
                    sizes[instruction.result.index] = (name, size)
                    writer.add(following, _fill(name, str(size)))
                elif isinstance(count, Local) and isinstance(count.type, IntType):
                    wide, size_name = _widened(writer, following, count), writer.name()
                    writer.add(following, f"  {size_name} = mul i64 {wide}, {instruction.extra.size}")
                    writer.add(following, _fill(name, size_name))
            elif instruction.opcode == "call" and "@llvm.lifetime.start" in writer.lines[following - 2]:
                operand = instruction.operands[-1]
                if isinstance(operand, Local) and operand.index in sizes:
                    name, size = sizes[operand.index]
                    writer.add(following, _fill(name, str(size)))
            elif instruction.loc is not None and (instruction.loc.file, instruction.loc.line) in wanted:
                _record(writer, instruction)


def _fill(name: str, size: str) -> str:
    return f"  call void @anabranch_fill(ptr {name}, i64 {size})"


def _spelled(local: Local) -> str:
    return f"%{local.name}" if re.fullmatch(r"[\w.$-]+", local.name) else f'%"{local.name}"'


def _recordable(type: Type) -> bool:
    return isinstance(type, PointerType) or (isinstance(type, IntType) and type.width <= 64)


def _widened(writer: Insertion, line: int, local: Local, name: str | None = None) -> str:
    """A value as 64 bits."""
    name = name or _spelled(local)
    wide = writer.name()
    if isinstance(local.type, PointerType):
        writer.add(line, f"  {wide} = ptrtoint ptr {name} to i64")
    elif isinstance(local.type, IntType) and local.type.width < 64:
        writer.add(line, f"  {wide} = zext i{local.type.width} {name} to i64")
    else:
        return name
    return wide


def _record(writer: Insertion, instruction: Instruction) -> None:
    """Pass what an instruction uses, and what it computes, to the record."""
    if instruction.opcode == "phi":
        return
    line = instruction.text_line
    for operand in instruction.operands:
        if isinstance(operand, Local) and _recordable(operand.type):
            writer.add(line, f"  call void @anabranch_witness(i64 {_widened(writer, line, operand)})")
    result = instruction.result
    name = _result(writer, instruction)
    if result is None or name is None or instruction.opcode in _TERMINATORS or not _recordable(result.type):
        return
    wide = _widened(writer, line + 1, result, name)
    writer.add(line + 1, f"  call void @anabranch_witness(i64 {wide})")


def depends_on_fresh_memory(run: Callable[[int], object]) -> bool:
    """Whether `run(filling)`, which tells all that is to be seen of a run, depends on the filling.

    False also if a run is not like another with the same filling: nothing is proved then.
    """
    first, *others, last = (run(filling) for filling in FILLINGS)
    return first == last and any(other != first for other in others)

"""Failures of the engine itself, told apart from those of the analysed program.

A program that recurses without end fails like one of the engine's own functions that does: with Python's
RecursionError. What tells them apart is who used up the stack. The program is allowed a number of Python
frames for its calls, and the engine some more on top of them; only where the program's calls took all of
theirs is the overflow an error of the program.
"""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import TYPE_CHECKING

from anabranch.machine.forking import INTERPRETER_CODE

if TYPE_CHECKING:
    from anabranch.machine.location import Where
    from anabranch.machine.translator.program import TranslatedProgram

# What only a defect of the engine raises: it costs the path, is counted and shown, and the run goes on. Text
# that Python's compiler refuses (SyntaxError) is text that the translator should not have written.
DEFECTS = (
    RuntimeError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    SyntaxError,
)

PYTHON_FRAMES = 400  # Python frames that the engine itself may need on top of the program's
INTERPRETED_FRAMES = 6  # Python frames of a call that the interpreter makes, at most
SHOWN_LINES = 200  # at either end of a traceback, which may have thousands


def details(error: BaseException) -> str:
    """The traceback of a defect, cut in the middle if it is long."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    if len(lines) > 2 * SHOWN_LINES:
        left_out = len(lines) - 2 * SHOWN_LINES
        lines[SHOWN_LINES:-SHOWN_LINES] = [f"  ... {left_out} more lines ..."]
    return "\n".join(lines) + "\n"


def overflows_in_program(
    program: TranslatedProgram, error: RecursionError, where: Where | None, allowed: int, deepest: int
) -> bool:
    """Did the calls of the program exhaust the stack: the `allowed` Python frames, or `deepest` calls?"""
    if where is None:
        return False
    if where.continuation[2] >= deepest:
        return True
    return _frames_of_program(program, error.__traceback__) >= allowed


def _frames_of_program(program: TranslatedProgram, entry: TracebackType | None) -> int:
    """Python frames up to the innermost one that runs code of the program."""
    frames = innermost = 0
    while entry is not None:
        frames += 1
        code = entry.tb_frame.f_code
        if id(code) in program.codes or code is INTERPRETER_CODE:
            innermost = frames
        entry = entry.tb_next
    return innermost

"""The C library's code told from the user's own, by the directory that its debug information names.

All of the library has debug information, so a function without any is the user's: bitcode that was compiled
without `-g`. Its coverage is counted by blocks and branches, and it has tests like any other.
"""

from __future__ import annotations

from anabranch.ir.module import Function
from anabranch.machine.ends import Fault
from anabranch.machine.location import StackFrame, Where, stack

LIBRARY_SOURCES = "/anabranch/musl/"
GENERATED = "__anabranch_"
"""How the names of functions begin that the front end adds to a program."""


def is_user_function(function: Function) -> bool:
    """Is it neither the library's nor added by the front end?"""
    subprogram = function.subprogram
    if subprogram is None:
        return not function.name.startswith(GENERATED)
    return not subprogram.file.startswith(LIBRARY_SOURCES)


def users_location(where: Where | None) -> str:
    """Where something happened, or the call that led to it if that was in the library."""
    if where is None:
        return ""
    caller = user_frame(where)
    return f"{caller.file}:{caller.line}" if caller is not None else where.text()


def user_frame(where: Where) -> StackFrame | None:
    """The innermost frame outside of the library, if the location itself is inside; else None."""
    if is_user_function(where.function):
        return None
    return next((f for f in stack(where) if f.file and not f.file.startswith(LIBRARY_SOURCES)), None)


def error_place(fault: Fault, where: Where | None) -> tuple[str, int]:
    """File and line that an error is told at: those of the user's call if it is in the library."""
    told_at = (user_frame(where) or where.loc) if where is not None else None
    file = fault.info.get("file", told_at.file if told_at is not None else "")
    line = fault.info.get("line", told_at.line if told_at is not None else 0)
    return str(file), int(str(line))

"""The C library's code told from the user's own, by the directory that its debug information names."""

from __future__ import annotations

from anabranch.ir.module import Function
from anabranch.machine.location import StackFrame, Where, stack

LIBRARY_SOURCES = "/anabranch/musl/"


def is_user_function(function: Function) -> bool:
    """Has source, and not in the library."""
    subprogram = function.subprogram
    return subprogram is not None and not subprogram.file.startswith(LIBRARY_SOURCES)


def user_frame(where: Where) -> StackFrame | None:
    """The innermost frame outside of the library, if the place itself is inside; else None."""
    if is_user_function(where.function) or where.function.subprogram is None:
        return None
    return next((f for f in stack(where) if f.file and not f.file.startswith(LIBRARY_SOURCES)), None)

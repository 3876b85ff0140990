"""The kinds of errors that a program under test can have: one row each, for every module that needs to know.

A kind that has no row (a model of the user's own may raise any) is an error of the execution to KLEE's
readers, and its name is the suffix of its file.
"""

from __future__ import annotations

from typing import Final, NamedTuple

EXIT: Final = "exit"
"""Native outcome: the program ends by itself, for the error is only visible after its end."""
STOPPED: Final = "stopped"
"""Native outcome: the run-time file of `klee.h` ends the program, as the program asked for."""


class ErrorKind(NamedTuple):
    """One kind of error."""

    name: str
    number: int
    """The termination type in KLEE's execution trees."""
    suffix: str
    """Of the file that describes an error, before `.err`. These are KLEE's names, except `div` and
    `overshift`, as KLEE's own checks say, and `leak`, `stack` and `uninit`, which KLEE does not look for."""
    cwe: int | None = None
    """The entry of the Common Weakness Enumeration that comes closest."""
    native: tuple[str, ...] = ()
    """What may end a native run of the test: a native check, by the name that it prints, a signal, EXIT or
    STOPPED."""


_MEMORY = ("ptr", "SIGSEGV", "SIGBUS")
_ROWS: Final = (
    ErrorKind("null-pointer", 36, "ptr", 476, _MEMORY),
    ErrorKind("wild-pointer", 36, "ptr", 822, _MEMORY),
    ErrorKind("invalid-pointer", 36, "ptr", 763, _MEMORY),
    ErrorKind("out-of-bounds", 36, "ptr", 119, _MEMORY),
    ErrorKind("use-after-free", 36, "ptr", 416, _MEMORY),
    ErrorKind("use-after-scope", 36, "ptr", 825, _MEMORY),
    ErrorKind("misaligned", 36, "ptr", 758, ("misaligned",)),
    ErrorKind("pointer-overflow", 36, "ptr", 823, ("pointer-overflow",)),
    ErrorKind("overlap", 36, "ptr", 628, ("overlap",)),
    ErrorKind("double-free", 33, "free", 415, ("free",)),
    ErrorKind("invalid-free", 33, "free", 763, ("free",)),
    ErrorKind("read-only", 37, "read_only", 758, ("SIGSEGV", "SIGBUS")),
    ErrorKind("uninitialised", 44, "uninit", 457),
    ErrorKind("division-by-zero", 35, "div", 369, ("div", "SIGFPE")),
    ErrorKind("overflow", 35, "overflow", 190, ("overflow", "SIGFPE")),
    ErrorKind("unsigned-overflow", 35, "overflow", 190, ("unsigned-overflow",)),
    ErrorKind("overshift", 35, "overshift", 1335, ("overshift",)),
    ErrorKind("shift-base", 35, "overflow", 1335, ("shift-base",)),
    ErrorKind("float-cast", 35, "overflow", 681, ("float-cast",)),
    ErrorKind("implicit-conversion", 41, "implicit_conversion", 681, ("implicit-conversion",)),
    ErrorKind("invalid-value", 44, "invalid_load", 758, ("invalid-value",)),
    ErrorKind("vla-bound", 34, "model", 1284, ("vla-bound",)),
    ErrorKind("nonnull", 45, "nullable_attribute", 476, ("nonnull",)),
    ErrorKind("invalid-builtin", 39, "invalid_builtin_use", 628, ("invalid-builtin",)),
    ErrorKind("undefined", 60, "exec", 758, ("undefined",)),
    ErrorKind("assert", 31, "assert", 617, ("SIGABRT",)),
    # A program's own body of reach_error usually fails an assertion, which KLEE reports as such.
    ErrorKind("reach-error", 31, "assert", 617, (STOPPED, "SIGABRT")),
    ErrorKind("abort", 30, "abort", None, ("SIGABRT", "SIGILL")),
    ErrorKind("report-error", 38, "report_error", None, (STOPPED,)),
    ErrorKind("user", 50, "user", None, (STOPPED,)),
    ErrorKind("unreachable", 42, "unreachable_call", 758, ("unreachable_call", "SIGILL")),
    ErrorKind("missing-return", 43, "missing_return", 758, ("missing-return",)),
    ErrorKind("bad-call", 60, "exec", 628, ("exec", "SIGSEGV")),
    ErrorKind("stack-overflow", 13, "stack", 674, ("SIGSEGV",)),
    ErrorKind("leak", 38, "leak", 401, (EXIT,)),
    ErrorKind("never-freed", 38, "leak", 772, (EXIT,)),
)
ERROR_KINDS: Final[dict[str, ErrorKind]] = {row.name: row for row in _ROWS}
EXECUTION: Final = 60
"""KLEE's number of an error of the execution."""


def error_kind(name: str) -> ErrorKind:
    """The row of a kind, or what holds for a kind without one."""
    row = ERROR_KINDS.get(name)
    return row if row is not None else ErrorKind(name, EXECUTION, safe_suffix(name), None, (name,))


def safe_suffix(name: str) -> str:
    """A name made safe for a file name."""
    return "".join(c if c.isalnum() else "_" for c in name).strip("_") or "exec"

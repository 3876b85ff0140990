"""Kinds of forks and ends: our names, and the numbers that readers of KLEE's execution trees know."""

from __future__ import annotations

from typing import Final

CONDITIONAL: Final = "conditional"
INDIRECT: Final = "indirect"
SWITCH: Final = "switch"
CALL: Final = "call"
MEMORY: Final = "memory"
POINTER: Final = "pointer"
ALLOCATION: Final = "allocation"
REALLOCATION: Final = "reallocation"
FREE: Final = "free"
VALUE: Final = "value"

FORK_NUMBERS: Final[dict[str, int]] = {
    CONDITIONAL: 1,
    INDIRECT: 2,
    SWITCH: 3,
    CALL: 4,
    MEMORY: 5,
    POINTER: 6,
    ALLOCATION: 7,
    REALLOCATION: 8,
    FREE: 9,
    VALUE: 10,
}

EXIT: Final = "exit"
SILENT: Final = "silent"
INTERRUPTED: Final = "interrupted"
MAX_DEPTH: Final = "max-depth"
OUT_OF_MEMORY: Final = "out-of-memory"
MERGED: Final = "merged"
PRUNED: Final = "pruned"
EXECUTION: Final = "exec"

END_NUMBERS: Final[dict[str, int]] = {
    EXIT: 1,
    INTERRUPTED: 10,
    MAX_DEPTH: 11,
    OUT_OF_MEMORY: 12,
    "stack-overflow": 13,
    "solver": 20,
    "abort": 30,
    "assert": 31,
    "double-free": 33,
    "invalid-free": 33,
    "model": 34,
    "division-by-zero": 35,
    "overflow": 35,
    "overshift": 35,
    "shift-base": 35,
    "float-cast": 35,
    "unsigned-overflow": 35,
    "vla-bound": 34,
    "null-pointer": 36,
    "out-of-bounds": 36,
    "use-after-free": 36,
    "use-after-scope": 36,
    "misaligned": 36,
    "pointer-overflow": 36,
    "wild-pointer": 36,
    "read-only": 37,
    "leak": 38,
    "never-freed": 38,
    "report-error": 38,
    "invalid-builtin": 39,
    "implicit-conversion": 41,
    "unreachable": 42,
    "missing-return": 43,
    "invalid-value": 44,
    "uninitialised": 44,
    "nonnull": 45,
    "user": 50,
    "bad-call": 60,
    EXECUTION: 60,
    "external": 61,
    MERGED: 71,
    PRUNED: 71,
    SILENT: 80,
}


def end_number(reason: str) -> int:
    """KLEE's number of an end; reasons it has no name for count as errors of the execution."""
    return END_NUMBERS.get(reason, END_NUMBERS[EXECUTION])

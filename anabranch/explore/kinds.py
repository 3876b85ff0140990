"""Kinds of forks, and of ends that are no errors: our names, and the numbers that readers of KLEE's execution
trees know."""

from __future__ import annotations

from typing import Final

from anabranch.error_kinds import error_kind

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

END_NUMBERS: Final[dict[str, int]] = {
    EXIT: 1,
    INTERRUPTED: 10,
    MAX_DEPTH: 11,
    OUT_OF_MEMORY: 12,
    MERGED: 71,
    PRUNED: 71,
    SILENT: 80,
}


def end_number(reason: str) -> int:
    """KLEE's number of an end: one of these, or an error."""
    known = END_NUMBERS.get(reason)
    return error_kind(reason).number if known is None else known

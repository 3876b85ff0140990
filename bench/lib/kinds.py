"""Error kinds in the coarse form that native detection and the engine share: the suffixes of `.err` files."""

from __future__ import annotations

COARSE = {
    "null-pointer": "ptr",
    "wild-pointer": "ptr",
    "out-of-bounds": "ptr",
    "use-after-free": "ptr",
    "double-free": "free",
    "invalid-free": "free",
    "division-by-zero": "div",
    "read-only": "read_only",
    "report-error": "report_error",
    "unreachable": "unreachable_call",
    "stack-overflow": "stack",
    "bad-call": "exec",
    "uninitialised": "uninit",
}


def coarse(kind: str) -> str:
    return COARSE.get(kind, kind)

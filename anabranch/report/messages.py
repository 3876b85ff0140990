"""`messages.txt` and `warnings.txt`, with the wording that tools around KLEE look for."""

from __future__ import annotations

from anabranch.report.errors import ErrorRecord
from anabranch.report.rundir import RunDirectory


class Messages:
    """The two logs of a run; both files exist from the start."""

    __slots__ = ("_messages", "_warnings")

    def __init__(self, directory: RunDirectory) -> None:
        self._messages = directory.open_log("messages.txt")
        self._warnings = directory.open_log("warnings.txt")

    def error(self, error: ErrorRecord, all_errors: bool) -> None:
        self._messages.add(f"KLEE: ERROR: {error.location}: {error.message}")
        if not all_errors:
            self._messages.add("KLEE: NOTE: now ignoring this error at this location")

    def message(self, text: str) -> None:
        self._messages.add(f"KLEE: {text}")

    def warning(self, text: str) -> None:
        self._warnings.add(f"KLEE: WARNING: {text}")

    def close(self) -> None:
        self._messages.close()
        self._warnings.close()

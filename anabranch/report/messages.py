"""`messages.txt` and `warnings.txt`, with the wording that tools around KLEE look for."""

from __future__ import annotations

from anabranch.report.errors import ErrorRecord
from anabranch.report.rundir import RunDirectory


class Messages:
    """The two logs of a run; both files exist from the start."""

    __slots__ = ("_directory",)

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        directory.write_text("messages.txt", "")
        directory.write_text("warnings.txt", "")

    def error(self, error: ErrorRecord, all_errors: bool) -> None:
        self._directory.append_line("messages.txt", f"KLEE: ERROR: {error.place}: {error.message}")
        if not all_errors:
            self._directory.append_line(
                "messages.txt", "KLEE: NOTE: now ignoring this error at this location"
            )

    def message(self, text: str) -> None:
        self._directory.append_line("messages.txt", f"KLEE: {text}")

    def warning(self, text: str) -> None:
        self._directory.append_line("warnings.txt", f"KLEE: WARNING: {text}")

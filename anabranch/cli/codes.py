"""Exit codes, and the failure that a command reports to the user."""

from __future__ import annotations

OK = 0
ERRORS_FOUND = 1
USAGE = 2
INTERNAL = 3
INTERRUPTED = 130
TERMINATED = 143


class CommandError(Exception):
    """Ends a command with a message for the user; `prefix` puts the program's name before it."""

    def __init__(self, message: str, code: int = USAGE, prefix: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.prefix = prefix

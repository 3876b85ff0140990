"""How a path ends: the exceptions that unwind translated code, and what they carry."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from anabranch.semantics.faults import Fault as Fault
from anabranch.semantics.faults import Figure as Figure

if TYPE_CHECKING:
    from anabranch.machine.state import State

AT_EXIT = "at exit"
AT_QUICK_EXIT = "at quick exit"
"""Notes of a path: functions that run at the end of the program, in the order of their registration, each
with the pointers that it is called with."""


class PathEnd(Exception):
    """Base of everything that ends the running path."""


class Exit(PathEnd):
    """The program ended by itself: `exit(status)`, or the return of the entry function."""

    def __init__(self, status: object) -> None:
        self.status = status  # the arguments are set already; most paths end by this


class Silent(PathEnd):
    """The path is dropped on the program's own request: a false assumption, `klee_silent_exit`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProgramError(PathEnd):
    """The running path certainly fails here."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Loss(PathEnd):
    """The engine gives the path up; the reason is counted in the run's losses."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


class Yield(Exception):
    """The running path stops at a safe point and goes back to the loop."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


class LongJump(Exception):
    """Control goes to a live `setjmp` continuation."""

    def __init__(self, continuation: tuple[object, ...], value: object) -> None:
        super().__init__()
        self.continuation = continuation
        self.value = value


# What makes an inline fast path fall back to the function that handles everything.
SLOW = (KeyError, IndexError, TypeError, ZeroDivisionError, struct.error)

"""The functions that the C library calls to enter the kernel."""

from __future__ import annotations

from typing import Final

from anabranch.analysis.effects import OUTSIDE, Static, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.posix import declared
from anabranch.environment.posix.kernel import PROCESS, Process, dispatch
from anabranch.environment.registry import model
from anabranch.environment.values import MASK64, set_errno
from anabranch.expr import Expr

BLOCK: Final = Static("thread block")
THREAD_BLOCK: Final = 1024  # more than musl's struct pthread
SELF, THREAD_ID = 0, 48  # offsets in it
MAX_ERRNO: Final = 4095


@model(*(f"__syscall{count}" for count in range(7)))
def enter_kernel(m: MachineApi, number: Value, *arguments: Value) -> Value:
    return dispatch(m, number, arguments)


@model("syscall")
def syscall(m: MachineApi, number: Value, *arguments: Value) -> Value:
    """The function of the C library; musl's reads six arguments however many there are."""
    result = dispatch(m, number, arguments)
    if not isinstance(result, Expr) and result > MASK64 - MAX_ERRNO:
        set_errno(m, MASK64 + 1 - result)
        return MASK64
    return result


@model(
    "__get_tp",
    effects=effects(
        reads=[declared.THREAD_AREA, declared.PROCESS, BLOCK],
        writes=[BLOCK],
        points=[BLOCK, OUTSIDE],
        puts=[(BLOCK, BLOCK)],
    ),
)
def get_thread_pointer(m: MachineApi) -> Value:
    """The thread's block: where the C library put it, else one of our own that points to itself."""
    process = m.note(PROCESS, None)
    if process is not None and process.thread_area:
        return int(process.thread_area)
    block = m.static(BLOCK.name, bytes(THREAD_BLOCK))
    if m.load(block + SELF, 8) == 0:
        m.store(block + SELF, 8, block)
        m.store(block + THREAD_ID, 4, (process or Process()).pid)
    return block

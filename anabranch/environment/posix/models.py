"""The functions that the C library calls to enter the kernel."""

from __future__ import annotations

from typing import Final

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.posix.kernel import PROCESS, Process, dispatch
from anabranch.environment.registry import model
from anabranch.environment.values import MASK64, set_errno
from anabranch.expr import Expr

THREAD_BLOCK: Final = 1024  # more than musl's struct pthread
SELF, THREAD_ID = 0, 48  # offsets in it
MAX_ERRNO: Final = 4095


@model("__syscall0")
def syscall0(m: MachineApi, number: Value) -> Value:
    return dispatch(m, number, ())


@model("__syscall1")
def syscall1(m: MachineApi, number: Value, a: Value) -> Value:
    return dispatch(m, number, (a,))


@model("__syscall2")
def syscall2(m: MachineApi, number: Value, a: Value, b: Value) -> Value:
    return dispatch(m, number, (a, b))


@model("__syscall3")
def syscall3(m: MachineApi, number: Value, a: Value, b: Value, c: Value) -> Value:
    return dispatch(m, number, (a, b, c))


@model("__syscall4")
def syscall4(m: MachineApi, number: Value, a: Value, b: Value, c: Value, d: Value) -> Value:
    return dispatch(m, number, (a, b, c, d))


@model("__syscall5")
def syscall5(m: MachineApi, number: Value, a: Value, b: Value, c: Value, d: Value, e: Value) -> Value:
    return dispatch(m, number, (a, b, c, d, e))


@model("__syscall6")
def syscall6(
    m: MachineApi, number: Value, a: Value, b: Value, c: Value, d: Value, e: Value, f: Value
) -> Value:
    return dispatch(m, number, (a, b, c, d, e, f))


@model("syscall")
def syscall(m: MachineApi, number: Value, *arguments: Value) -> Value:
    """The function of the C library; musl's reads six arguments however many there are."""
    result = dispatch(m, number, arguments)
    if not isinstance(result, Expr) and result > MASK64 - MAX_ERRNO:
        set_errno(m, MASK64 + 1 - result)
        return MASK64
    return result


@model("__get_tp")
def get_thread_pointer(m: MachineApi) -> Value:
    """The thread's block: where the C library put it, else one of our own that points to itself."""
    process = m.note(PROCESS, None)
    if process is not None and process.thread_area:
        return int(process.thread_area)
    block = m.static("thread block", bytes(THREAD_BLOCK))
    if m.load(block + SELF, 8) == 0:
        m.store(block + SELF, 8, block)
        m.store(block + THREAD_ID, 4, (process or Process()).pid)
    return block

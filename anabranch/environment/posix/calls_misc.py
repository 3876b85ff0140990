"""Threads and what is left."""

from __future__ import annotations

from dataclasses import replace

from anabranch.analysis.effects import OUTSIDE, PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.ops import ne
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.declared import THREAD_AREA
from anabranch.environment.posix.kernel import UNMODELLED, Kernel, system_call
from anabranch.environment.values import resize

ARCH_SET_FS, ARCH_GET_FS = 0x1002, 0x1003
PR_SET_NAME, PR_GET_NAME = 15, 16


@system_call("set_thread_area", effects=effects(writes=[THREAD_AREA], keeps=[0]))
def set_thread_area(k: Kernel, address: Value) -> Value:
    """Where the thread's block is; `__get_tp` gives it back."""
    k.process = replace(k.process, thread_area=k.word(address))
    return 0


@system_call(
    "arch_prctl",
    effects=effects(reads=[THREAD_AREA], writes=[THREAD_AREA, 1], keeps=[1], puts=[(OUTSIDE, 1)]),
)
def arch_prctl(k: Kernel, code: Value, address: Value) -> Value:
    what = k.number(code)
    if what == ARCH_SET_FS:
        return set_thread_area(k, address)
    if what == ARCH_GET_FS:
        k.m.store(k.pointer(address), 8, k.process.thread_area)
        return 0
    raise e.Failure(e.EINVAL)


@system_call("prctl", effects=effects(writes=[1]))
def prctl(k: Kernel, option: Value, address: Value) -> Value:
    what = k.number(option)
    if what == PR_SET_NAME:
        k.pointer(address)
        return 0
    if what == PR_GET_NAME:
        k.give(address, b"program\0")
        return 0
    k.lose(f"{UNMODELLED} prctl")
    raise e.Failure(e.EINVAL)


@system_call("futex", effects=effects(reads=[0]))
def futex(k: Kernel, address: Value, operation: Value, value: Value) -> Value:
    """One thread: nobody waits, and waiting for a value that is there would last for ever."""
    what = k.number(operation, "operation of futex") & 0x7F
    if what == 0:
        if k.decide(ne(k.m.load(k.pointer(address), 4), resize(value, 32), 32)):
            raise e.Failure(e.EAGAIN)
        k.m.unsupported("waiting for another thread")
    return 0


@system_call("set_robust_list", "personality", "inotify_rm_watch", effects=PURE)
def accepted(k: Kernel) -> Value:
    return 0


@system_call("rseq", effects=PURE)
def refused(k: Kernel) -> Value:
    """An optional service; programs do without when the kernel lacks it."""
    raise e.Failure(e.ENOSYS)

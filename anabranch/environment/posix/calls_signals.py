"""Signals: actions and masks are kept; one to oneself ends the program or is ignored, no handler runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from anabranch.analysis.effects import OUTSIDE, PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.ops import and_, ne, or_, xor
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.declared import PROCESS, SIGNALS, telling
from anabranch.environment.posix.kernel import Kernel, system_call
from anabranch.environment.posix.stat import packed
from anabranch.environment.values import MASK64

SIGKILL, SIGSTOP, SIGABRT = 9, 19, 6
HIGHEST: Final = 64
SIG_DFL, SIG_IGN = 0, 1
SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK = range(3)
#: Signals that do nothing unless there is a handler: CHLD, CONT, URG, WINCH.
HARMLESS: Final = (17, 18, 23, 28)
STOPPING: Final = (19, 20, 21, 22)
NO_ACTION: Final = (0, 0, 0, 0)


def signal_number(k: Kernel, value: Value) -> int:
    number = k.number(value, "signal")
    if not 1 <= number <= HIGHEST:
        raise e.Failure(e.EINVAL)
    return number


@system_call(
    "rt_sigaction",
    effects=effects(reads=[1, SIGNALS], writes=[2, SIGNALS], passes=[(1, OUTSIDE), (OUTSIDE, 2)]),
)
def rt_sigaction(k: Kernel, signal: Value, new: Value, old: Value, size: Value) -> Value:
    """The fields of an action are handler, flags, restorer and mask, 8 bytes each."""
    number = signal_number(k, signal)
    new_address, old_address = k.word(new), k.word(old)
    if new_address and number in (SIGKILL, SIGSTOP):
        raise e.Failure(e.EINVAL)
    before = k.process.actions.get(number, NO_ACTION)
    if new_address:
        action = tuple(k.m.load(new_address + 8 * i, 8) for i in range(4))
        k.process = replace(k.process, actions=k.process.actions.set(number, action))
    if old_address:
        k.m.write_bytes(old_address, packed((field, 8) for field in before))
    return 0


@system_call("rt_sigprocmask", effects=effects(reads=[1, SIGNALS], writes=[2, SIGNALS]))
def rt_sigprocmask(k: Kernel, how: Value, new: Value, old: Value, size: Value) -> Value:
    if k.word(size) != 8:
        raise e.Failure(e.EINVAL)
    new_address, old_address = k.word(new), k.word(old)
    before = mask = k.process.mask
    if new_address:
        what = k.number(how, "change of the signal mask")
        change = k.m.load(new_address, 8)
        if what == SIG_BLOCK:
            mask = or_(mask, change, 64)
        elif what == SIG_UNBLOCK:
            mask = and_(mask, xor(change, MASK64, 64), 64)
        elif what == SIG_SETMASK:
            mask = change
        else:
            raise e.Failure(e.EINVAL)
    if old_address:
        k.m.store(old_address, 8, before)
    k.process = replace(k.process, mask=mask)
    return 0


def raised(k: Kernel, signal: Value) -> Value:
    """A signal to the process itself."""
    number = k.number(signal, "signal")
    if not 0 <= number <= HIGHEST:
        raise e.Failure(e.EINVAL)
    if number == 0:
        return 0
    handler = k.process.actions.get(number, NO_ACTION)[0]
    if number not in (SIGKILL, SIGSTOP) and k.decide(ne(handler, SIG_DFL, 64)):
        if k.decide(ne(handler, SIG_IGN, 64)):
            k.lose("signal that would be delivered")
        return 0
    if number in HARMLESS:
        return 0
    if number in STOPPING:
        k.lose("signal that would stop the program")
        return 0
    if number == SIGABRT:
        k.m.error("abort", "abort failure")
    k.m.exit(128 + number, handlers=None)


@system_call("tkill", effects=effects(reads=[SIGNALS, PROCESS]))
def tkill(k: Kernel, thread: Value, signal: Value) -> Value:
    if k.number(thread, "thread") != k.process.pid:
        raise e.Failure(e.ESRCH)
    return raised(k, signal)


@system_call("tgkill", effects=effects(reads=[SIGNALS, PROCESS]))
def tgkill(k: Kernel, group: Value, thread: Value, signal: Value) -> Value:
    if k.number(group, "process") != k.process.pid:
        raise e.Failure(e.ESRCH)
    return tkill(k, thread, signal)


@system_call("kill", effects=effects(reads=[SIGNALS, PROCESS]))
def kill(k: Kernel, pid: Value, signal: Value) -> Value:
    """There is nobody else to be signalled."""
    if k.number(pid, "process") not in (0, k.process.pid, -k.process.pid):
        k.lose("signal to another process")
        raise e.Failure(e.ESRCH)
    return raised(k, signal)


@system_call("rt_sigpending", effects=telling(0))
def rt_sigpending(k: Kernel, result: Value) -> Value:
    k.m.store(k.pointer(result), 8, 0)
    return 0


@system_call("pause", "rt_sigsuspend", "rt_sigtimedwait", effects=PURE)
def wait_for_signal(k: Kernel) -> Value:
    k.m.unsupported("waiting for a signal")


@system_call("sigaltstack", effects=telling(1))
def sigaltstack(k: Kernel, new: Value, old: Value) -> Value:
    address = k.word(old)
    if address:
        k.m.write_bytes(address, packed([(0, 8), (2, 4), (0, 4), (0, 8)]))
    return 0

"""Clocks: time stands still but for a millisecond a look, and for sleeping."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import Final

from anabranch.analysis.effects import PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.ops import both, sle, ult
from anabranch.environment.posix import errors as e
from anabranch.environment.posix import stat as layouts
from anabranch.environment.posix.declared import CLOCK, telling
from anabranch.environment.posix.filesystem import START_TIME
from anabranch.environment.posix.kernel import Kernel, system_call
from anabranch.expr import Expr

CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS, CLOCK_THREAD = range(4)
CLOCKS: Final = range(12)
SECOND: Final = 1_000_000_000
START: Final = f"starts at {datetime.fromtimestamp(START_TIME, UTC):%Y-%m-%d %H:%M:%S} UTC"


def look(k: Kernel) -> int:
    """Milliseconds since 1970; every look takes one."""
    k.fixed_answer("the clock", START)
    k.fs = k.fs.changed(now=k.fs.now + 1)
    return k.fs.now


def shown(k: Kernel, clock: int) -> int:
    """Milliseconds on a clock: since 1970, or since a second before the start."""
    return k.fs.now if clock in (CLOCK_REALTIME, 5, 11) else k.fs.now - START_TIME * 1000 + 1000


def reading(k: Kernel, clock: int) -> int:
    """Nanoseconds that a look at a clock finds."""
    look(k)
    return shown(k, clock) * 1_000_000


def clock_of(k: Kernel, value: Value) -> int:
    clock = k.number(value, "clock")
    if clock not in CLOCKS:
        raise e.Failure(e.EINVAL)
    return clock


@system_call("clock_gettime", effects=effects(reads=[CLOCK], writes=[1, CLOCK]))
def clock_gettime(k: Kernel, clock: Value, result: Value) -> Value:
    k.give(result, layouts.timespec(reading(k, clock_of(k, clock))))
    return 0


@system_call("clock_getres", effects=telling(1))
def clock_getres(k: Kernel, clock: Value, result: Value) -> Value:
    clock_of(k, clock)
    address = k.word(result)
    if address:
        k.m.write_bytes(address, layouts.timespec(1))
    return 0


@system_call("gettimeofday", effects=effects(reads=[CLOCK], writes=[0, 1, CLOCK]))
def gettimeofday(k: Kernel, result: Value, zone: Value) -> Value:
    address, zone_address = k.word(result), k.word(zone)
    now = reading(k, CLOCK_REALTIME)
    if address:
        k.m.write_bytes(address, layouts.timeval(now))
    if zone_address:
        k.m.write_bytes(zone_address, bytes(8))
    return 0


@system_call("time", effects=effects(reads=[CLOCK], writes=[0, CLOCK]))
def time(k: Kernel, result: Value) -> Value:
    address = k.word(result)
    seconds = look(k) // 1000
    if address:
        k.m.store(address, 8, seconds)
    return seconds


@system_call("times", effects=effects(reads=[CLOCK], writes=[0, CLOCK]))
def times(k: Kernel, result: Value) -> Value:
    address = k.word(result)
    if address:
        k.m.write_bytes(address, bytes(32))
    return (look(k) - START_TIME * 1000) // 10


def slept(k: Kernel, request: Value) -> None:
    """Check a time to sleep; a known one passes, one that depends on the input passes unseen."""
    address = k.pointer(request)
    seconds, nanoseconds = k.m.load(address, 8), k.m.load(address + 8, 8)
    fine = both(sle(0, seconds, 64), ult(nanoseconds, SECOND, 64))
    if not k.decide(fine):
        raise e.Failure(e.EINVAL)
    if not isinstance(seconds, Expr) and not isinstance(nanoseconds, Expr):
        k.fs = k.fs.changed(now=k.fs.now + min(seconds, 1 << 40) * 1000 + nanoseconds // 1_000_000)


@system_call("nanosleep", effects=effects(reads=[0, CLOCK], writes=[CLOCK]))
def nanosleep(k: Kernel, request: Value, remaining: Value) -> Value:
    slept(k, request)
    return 0


@system_call("clock_nanosleep", effects=effects(reads=[2, CLOCK], writes=[CLOCK]))
def clock_nanosleep(k: Kernel, clock: Value, flags: Value, request: Value, remaining: Value) -> Value:
    before = k.fs.now
    already = shown(k, clock_of(k, clock))
    absolute = k.number(flags) & 1
    slept(k, request)
    if absolute:
        k.fs = k.fs.changed(now=max(before, k.fs.now - already))
    return 0


@system_call("alarm", effects=PURE)
def alarm(k: Kernel, seconds: Value) -> Value:
    """Alarms never go off."""
    if k.number(seconds):
        k.lose("alarm that would go off")
    return 0


@system_call("setitimer", effects=effects(reads=[1], writes=[2]))
def setitimer(k: Kernel, which: Value, new: Value, old: Value) -> Value:
    if k.number(which) not in range(3):
        raise e.Failure(e.EINVAL)
    address, previous = k.word(new), k.word(old)
    value = [k.word(k.m.load(address + 8 * i, 8)) for i in (2, 3)] if address else [0]
    if any(value):
        k.lose("alarm that would go off")
    if previous:
        k.m.write_bytes(previous, bytes(32))
    return 0


@system_call("getitimer", effects=telling(1))
def getitimer(k: Kernel, which: Value, result: Value) -> Value:
    if k.number(which) not in range(3):
        raise e.Failure(e.EINVAL)
    k.give(result, struct.pack("<4q", 0, 0, 0, 0))
    return 0

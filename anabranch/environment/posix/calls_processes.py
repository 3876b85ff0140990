"""The process: identity, limits, its end. Other processes do not exist and cannot be made."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Final

from anabranch.analysis.effects import PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.declared_parts import HANDLERS
from anabranch.environment.posix import errors as e
from anabranch.environment.posix import stat as layouts
from anabranch.environment.posix.declared import IDENTITY, LIMITS, LOOKUP, PROCESS, telling
from anabranch.environment.posix.filesystem import MAX_DESCRIPTORS
from anabranch.environment.posix.kernel import UNMODELLED, Kernel, short_form, system_call
from anabranch.environment.posix.lookup import walk
from anabranch.environment.posix.operations import existing
from anabranch.environment.values import MASK32, MASK64, resize

UNLIMITED: Final = MASK64
RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_NOFILE = 3, 6, 7
USUAL_LIMITS: Final = {
    RLIMIT_STACK: (8 << 20, UNLIMITED),
    RLIMIT_NPROC: (4096, 4096),
    RLIMIT_NOFILE: (MAX_DESCRIPTORS, 4096),
}


@system_call("exit", "exit_group", effects=effects(writes=[HANDLERS]))
def exit_group(k: Kernel, status: Value) -> Value:
    k.m.exit(resize(status, 32), handlers=None)


# ---- identity ----------------------------------------------------------------------------------------


@system_call("getpid", "gettid", "getpgrp", effects=effects(reads=[PROCESS]))
def getpid(k: Kernel) -> Value:
    k.fixed_answer("the process", f"has number {k.process.pid}")
    return k.process.pid


@system_call("set_tid_address", effects=effects(reads=[PROCESS]))
def set_tid_address(k: Kernel, address: Value) -> Value:
    return k.process.pid


@system_call("getppid", effects=effects(reads=[PROCESS]))
def getppid(k: Kernel) -> Value:
    k.fixed_answer("the parent process", f"has number {k.process.parent}")
    return k.process.parent


@system_call("getuid", "geteuid", effects=effects(reads=[IDENTITY]))
def getuid(k: Kernel) -> Value:
    k.fixed_answer("the user", "is the superuser")
    return k.fs.uid


@system_call("getgid", "getegid", effects=effects(reads=[IDENTITY]))
def getgid(k: Kernel) -> Value:
    k.fixed_answer("the group", "is that of the superuser")
    return k.fs.gid


@system_call("getresuid", effects=effects(reads=[IDENTITY], writes=[0, 1, 2]))
def getresuid(k: Kernel, real: Value, effective: Value, saved: Value) -> Value:
    getuid(k)
    for address in (k.pointer(real), k.pointer(effective), k.pointer(saved)):
        k.m.store(address, 4, k.fs.uid)
    return 0


@system_call("getresgid", effects=effects(reads=[IDENTITY], writes=[0, 1, 2]))
def getresgid(k: Kernel, real: Value, effective: Value, saved: Value) -> Value:
    getgid(k)
    for address in (k.pointer(real), k.pointer(effective), k.pointer(saved)):
        k.m.store(address, 4, k.fs.gid)
    return 0


def change_identity(k: Kernel, own: int, wanted: tuple[Value, ...]) -> int:
    """The new identity; only the superuser may take another."""
    numbers = {k.number(value, "identity") & MASK32 for value in wanted} - {MASK32}
    if numbers <= {own}:
        return own
    if k.fs.uid != 0:
        raise e.Failure(e.EPERM)
    if len(numbers) > 1:
        k.lose("process with different real and effective identity")
    return max(numbers)


@system_call("setresuid", effects=effects(reads=[IDENTITY], writes=[IDENTITY]))
def setresuid(k: Kernel, real: Value, effective: Value, saved: Value) -> Value:
    k.fs = k.fs.changed(uid=change_identity(k, k.fs.uid, (real, effective, saved)))
    return 0


short_form("setuid", setresuid, None, MASK32, MASK32)
short_form("setfsuid", setresuid, None, MASK32, MASK32)
short_form("setreuid", setresuid, None, None, MASK32)


@system_call("setresgid", effects=effects(reads=[IDENTITY], writes=[IDENTITY]))
def setresgid(k: Kernel, real: Value, effective: Value, saved: Value) -> Value:
    k.fs = k.fs.changed(gid=change_identity(k, k.fs.gid, (real, effective, saved)))
    return 0


short_form("setgid", setresgid, None, MASK32, MASK32)
short_form("setfsgid", setresgid, None, MASK32, MASK32)
short_form("setregid", setresgid, None, None, MASK32)


@system_call("getgroups", effects=telling(1, IDENTITY))
def getgroups(k: Kernel, size: Value, groups: Value) -> Value:
    room = k.number(size, "number of groups")
    if room == 0:
        return 1
    if room < 0:
        raise e.Failure(e.EINVAL)
    k.m.store(k.pointer(groups), 4, k.fs.gid)
    return 1


@system_call("setgroups", effects=effects(reads=[IDENTITY]))
def setgroups(k: Kernel, size: Value, groups: Value) -> Value:
    if k.fs.uid != 0:
        raise e.Failure(e.EPERM)
    k.lose("other supplementary groups")
    return 0


def is_self(k: Kernel, pid: Value) -> None:
    if k.number(pid, "process") not in (0, k.process.pid):
        raise e.Failure(e.ESRCH)


@system_call("getpgid", "getsid", effects=effects(reads=[PROCESS]))
def getpgid(k: Kernel, pid: Value) -> Value:
    is_self(k, pid)
    return k.process.pid


@system_call("setpgid", effects=effects(reads=[PROCESS]))
def setpgid(k: Kernel, pid: Value, group: Value) -> Value:
    is_self(k, pid)
    is_self(k, group)  # the process leads its group, and there is no other
    return 0


@system_call("setsid", effects=PURE)
def setsid(k: Kernel) -> Value:
    raise e.Failure(e.EPERM)  # the process leads its group already


# ---- limits and usage --------------------------------------------------------------------------------


@system_call("prlimit64", effects=effects(reads=[2, LIMITS, IDENTITY, PROCESS], writes=[3, LIMITS]))
def prlimit64(k: Kernel, pid: Value, resource: Value, new: Value, old: Value) -> Value:
    is_self(k, pid)
    which = k.number(resource, "resource")
    if not 0 <= which < 16:
        raise e.Failure(e.EINVAL)
    soft, hard = k.process.limits.get(which) or USUAL_LIMITS.get(which, (UNLIMITED, UNLIMITED))
    new_address, old_address = k.word(new), k.word(old)
    limits = k.process.limits
    if new_address:
        wanted = k.word(k.m.load(new_address, 8), "limit"), k.word(k.m.load(new_address + 8, 8), "limit")
        if wanted[0] > wanted[1]:
            raise e.Failure(e.EINVAL)
        if wanted[1] > hard and k.fs.uid != 0:
            raise e.Failure(e.EPERM)
        limits = limits.set(which, wanted)
    if old_address:
        k.m.write_bytes(old_address, struct.pack("<QQ", soft, hard))
        k.fixed_answer("limits of resources", "are those of a usual system")
    k.process = replace(k.process, limits=limits)
    return 0


@system_call("getrlimit", effects=telling(1, LIMITS, IDENTITY, PROCESS))
def getrlimit(k: Kernel, resource: Value, result: Value) -> Value:
    return prlimit64(k, 0, resource, 0, k.pointer(result))


@system_call("setrlimit", effects=effects(reads=[1, LIMITS, IDENTITY, PROCESS], writes=[LIMITS]))
def setrlimit(k: Kernel, resource: Value, wanted: Value) -> Value:
    return prlimit64(k, 0, resource, k.pointer(wanted), 0)


@system_call("getrusage", effects=telling(1))
def getrusage(k: Kernel, who: Value, result: Value) -> Value:
    if k.number(who) not in (0, 1, -1):
        raise e.Failure(e.EINVAL)
    k.give(result, bytes(144))
    k.fixed_answer("resources used", "are none")
    return 0


@system_call("getpriority", effects=PURE)
def getpriority(k: Kernel, which: Value, who: Value) -> Value:
    if k.number(which) not in range(3):
        raise e.Failure(e.EINVAL)
    k.fixed_answer("the priority", "is 0")
    return 20  # the kernel gives 20 - nice


@system_call("setpriority", effects=PURE)
def setpriority(k: Kernel, which: Value, who: Value, value: Value) -> Value:
    if k.number(which) not in range(3):
        raise e.Failure(e.EINVAL)
    if k.number(value):
        k.lose("another priority")
    return 0


@system_call("sched_getaffinity", effects=telling(2, PROCESS))
def sched_getaffinity(k: Kernel, pid: Value, size: Value, mask: Value) -> Value:
    is_self(k, pid)
    if k.word(size) < 8:
        raise e.Failure(e.EINVAL)
    k.m.store(k.pointer(mask), 8, 1)
    k.fixed_answer("processors", "are one")
    return 8


@system_call("sched_setaffinity", "sched_yield", "sched_getscheduler", effects=PURE)
def scheduling(k: Kernel) -> Value:
    return 0


@system_call("getcpu", effects=effects(writes=[0, 1]))
def getcpu(k: Kernel, cpu: Value, node: Value) -> Value:
    places = [address for address in (k.word(cpu), k.word(node)) if address]
    for address in places:
        k.m.store(address, 4, 0)
    return 0


@system_call("uname", effects=telling(0))
def uname(k: Kernel, result: Value) -> Value:
    k.fixed_answer("the host", "is localhost, Linux 6.1.0 on x86_64")
    k.give(result, layouts.utsname())
    return 0


@system_call("sysinfo", effects=telling(0))
def sysinfo(k: Kernel, result: Value) -> Value:
    k.fixed_answer("memory and load of the host", "are those of an idle machine")
    k.give(result, layouts.sysinfo(1000))
    return 0


@system_call(
    "sethostname", "setdomainname", "chroot", "mount", "umount2", "reboot", "swapon", "swapoff", "acct",
    "settimeofday", "clock_settime", "init_module", "delete_module", "pivot_root",
    effects=PURE,
)  # fmt: skip
def forbidden(k: Kernel) -> Value:
    """What only the superuser of a real machine may do; the model's superuser may not."""
    k.lose("change of the system by its superuser")
    raise e.Failure(e.EPERM)


# ---- other processes ---------------------------------------------------------------------------------


@system_call("wait4", "waitid", effects=PURE)
def wait4(k: Kernel) -> Value:
    raise e.Failure(e.ECHILD)


@system_call("execve", effects=effects(reads=[0, *LOOKUP]))
def execve(k: Kernel, path: Value) -> Value:
    """A program that is there cannot be run; one that is not is missing as usual."""
    node = existing(k.fs, walk(k.fs, k.fs.cwd, k.path(path), k.decide))
    if node.is_directory:
        raise e.Failure(e.EACCES)
    k.fs.check(node, 1, k.decide)
    k.lose(f"{UNMODELLED} execve")
    raise e.Failure(e.ENOSYS)

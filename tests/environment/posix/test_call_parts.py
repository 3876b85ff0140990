"""What system calls declare to read and write is what they read and write."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from anabranch.analysis.effects import Part
from anabranch.environment.posix.filesystem import standard_file_system, with_file
from anabranch.environment.posix.kernel import CALL_EFFECTS
from anabranch.environment.posix.numbers import NUMBERS
from tests.environment.fake import Ended
from tests.environment.posix.perturbed import Checks
from tests.environment.posix.system import Model

NAMES = [
    b"a",
    b"b",
    b"d",
    b"d/a",
    b"d/b",
    b"s",
    b"../user/a",
    b"/dev/null",
    b"/dev/stdin",
    b"/dev/urandom",
    b"",
    b".",
]
FLAGS = (0, 1, 2, 0o100, 0o102, 0o302, 0o1001, 0o2001, 0o2102, 0o10000, 0o2000000, 0o200000)


class Checked(Model):
    """Every call is checked before it is made."""

    def __init__(self) -> None:
        super().__init__(with_file(standard_file_system(), b"b", b"some contents"))
        self.checks = Checks()

    def call(self, name: str, *arguments: int | bytes) -> int:
        values = [self.text(a) if isinstance(a, bytes) else a & (1 << 64) - 1 for a in arguments]
        number = NUMBERS[name]
        self.checks.call(
            self.m, f"__syscall{len(values)}", [number, *values], dict(self.m.notes), self.m.value
        )
        try:
            return super().call(name, *values)
        except Ended:
            return 0


Step = Callable[[Checked, random.Random], Any]


def path(r: random.Random) -> bytes:
    return r.choice(NAMES)


def fd(r: random.Random) -> int:
    return r.choice((0, 1, 2, 3, 3, 4, 4, 5, 6, 7))


def times(r: random.Random) -> bytes:
    return struct.pack("<4q", r.randrange(9), r.choice((5, 0x3FFFFFFF, 0x3FFFFFFE)), r.randrange(9), 7)


STEPS: dict[str, Step] = {
    "open": lambda m, r: m.call("open", path(r), r.choice(FLAGS), 0o644),
    "openat": lambda m, r: m.call("openat", fd(r), path(r), r.choice(FLAGS), 0o600),
    "create": lambda m, r: m.call("open", r.choice(NAMES[:5]), 0o102, 0o644),
    "read": lambda m, r: m.read(fd(r), r.randrange(9)),
    "write": lambda m, r: m.write(fd(r), bytes(r.randrange(9))),
    "pread": lambda m, r: m.pread(fd(r), r.randrange(9), r.randrange(-1, 9)),
    "pwrite": lambda m, r: m.pwrite(fd(r), b"xyz", r.randrange(-1, 9)),
    "readv": lambda m, r: m.call("readv", fd(r), struct.pack("<4Q", m.buffer(8), 3, m.buffer(8), 2), 2),
    "writev": lambda m, r: m.call("writev", fd(r), struct.pack("<4Q", m.buffer(8), 3, m.buffer(8), 2), 2),
    "lseek": lambda m, r: m.call("lseek", fd(r), r.randrange(-3, 12), r.randrange(6)),
    "ftruncate": lambda m, r: m.call("ftruncate", fd(r), r.randrange(-1, 20)),
    "truncate": lambda m, r: m.call("truncate", path(r), r.randrange(-1, 20)),
    "fallocate": lambda m, r: m.call("fallocate", fd(r), 0, r.randrange(9), r.randrange(9)),
    "close": lambda m, r: m.call("close", fd(r)),
    "close_range": lambda m, r: m.call("close_range", 5, 6, 0) if r.random() < 0.2 else None,
    "dup": lambda m, r: m.call("dup", fd(r)),
    "dup2": lambda m, r: m.call("dup2", fd(r), fd(r)),
    "dup3": lambda m, r: m.call("dup3", fd(r), fd(r), r.choice((0, 0o2000000))),
    "fcntl": lambda m, r: m.call("fcntl", fd(r), r.choice((0, 1, 2, 3, 4, 5, 6, 1030, 1032)), m.buffer(8)),
    "F_SETFL": lambda m, r: m.call("fcntl", fd(r), 4, r.choice((0, 0o2000, 0o4000))),
    "F_DUPFD": lambda m, r: m.call("fcntl", fd(r), 0, r.randrange(9)),
    "ioctl": lambda m, r: m.call(
        "ioctl", fd(r), r.choice((0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)), m.buffer(80)
    ),
    "pipe": lambda m, r: m.call("pipe", m.buffer(8)),
    "pipe2": lambda m, r: m.call("pipe2", m.buffer(8), 0o4000),
    "poll": lambda m, r: m.call("poll", struct.pack("<iHHiHH", fd(r), 5, 0, fd(r), 5, 0), 2, 0),
    "select": lambda m, r: m.call("select", 8, struct.pack("<Q", 1 << fd(r)), struct.pack("<Q", 2), 0, 0),
    "sendfile": lambda m, r: m.call("sendfile", fd(r), fd(r), r.choice((0, m.buffer(8))), 5),
    "copy": lambda m, r: m.call("copy_file_range", fd(r), 0, fd(r), r.choice((0, m.buffer(8))), 5, 0),
    "fstat": lambda m, r: m.fstat(fd(r)),
    "stat": lambda m, r: m.stat(path(r), r.random() < 0.5),
    "statx": lambda m, r: m.call("statx", fd(r), path(r), 0x1000, 0, m.buffer(256)),
    "statfs": lambda m, r: m.call("statfs", path(r), m.buffer(120)),
    "fstatfs": lambda m, r: m.call("fstatfs", fd(r), m.buffer(120)),
    "access": lambda m, r: m.call("access", path(r), r.randrange(9)),
    "mkdir": lambda m, r: m.call("mkdir", path(r), 0o755),
    "rmdir": lambda m, r: m.call("rmdir", path(r)),
    "unlink": lambda m, r: m.call("unlink", path(r)),
    "link": lambda m, r: m.call("link", path(r), path(r)),
    "symlink": lambda m, r: m.call("symlink", r.choice((b"a", b"d", b"/proc/self/fd/3", b"s")), path(r)),
    "readlink": lambda m, r: m.readlink(path(r)),
    "rename": lambda m, r: m.call("rename", path(r), path(r)),
    "mknod": lambda m, r: m.call("mknod", path(r), r.choice((0o010644, 0o100600)), 0),
    "listing": lambda m, r: m.listing(r.choice((b".", b"d", b"/"))),
    "chdir": lambda m, r: m.call("chdir", path(r)),
    "fchdir": lambda m, r: m.call("fchdir", fd(r)),
    "getcwd": lambda m, r: m.output("getcwd", 60, last=(60,)),
    "chmod": lambda m, r: m.call("chmod", path(r), 0o640),
    "fchmod": lambda m, r: m.call("fchmod", fd(r), 0o604),
    "chown": lambda m, r: m.call("chown", path(r), r.choice((-1, 5)), 7),
    "fchown": lambda m, r: m.call("fchown", fd(r), -1, 7),
    "umask": lambda m, r: m.call("umask", r.choice((0, 0o22, 0o77))),
    "utimensat": lambda m, r: m.call("utimensat", -100, path(r), times(r), 0),
    "futimens": lambda m, r: m.call("utimensat", fd(r), 0, times(r), 0),
    "utime": lambda m, r: m.call("utime", path(r), 0),
    "utimes": lambda m, r: m.call("utimes", path(r), times(r)),
    "setuid": lambda m, r: m.call("setuid", 1000) if r.random() < 0.1 else None,
    "setgid": lambda m, r: m.call("setgid", 1000),
    "getuid": lambda m, r: m.call("getuid"),
    "getgroups": lambda m, r: m.call("getgroups", 3, m.buffer(12)),
    "getresgid": lambda m, r: m.call("getresgid", m.buffer(4), m.buffer(4), m.buffer(4)),
    "getpid": lambda m, r: m.call("getpid"),
    "clock_gettime": lambda m, r: m.call("clock_gettime", r.randrange(3), m.buffer(16)),
    "gettimeofday": lambda m, r: m.call("gettimeofday", m.buffer(16), 0),
    "time": lambda m, r: m.call("time", 0),
    "times": lambda m, r: m.call("times", m.buffer(32)),
    "nanosleep": lambda m, r: m.call("nanosleep", struct.pack("<2q", 1, 5), 0),
    "clock_nanosleep": lambda m, r: m.call("clock_nanosleep", 0, 1, struct.pack("<2q", 1, 5), 0),
    "getrandom": lambda m, r: m.call("getrandom", m.buffer(8), 8, 0),
    "prlimit": lambda m, r: m.call("prlimit64", 0, 7, r.choice((0, struct.pack("<2Q", 9, 90))), m.buffer(16)),
    "getrlimit": lambda m, r: m.call("getrlimit", 7, m.buffer(16)),
    "setrlimit": lambda m, r: m.call("setrlimit", 7, struct.pack("<2Q", 9, 80)),
    "rt_sigaction": lambda m, r: m.call(
        "rt_sigaction", r.choice((9, 10)), r.choice((0, struct.pack("<4Q", 1, 0, 0, 0))), m.buffer(32), 8
    ),
    "rt_sigprocmask": lambda m, r: m.call(
        "rt_sigprocmask", r.randrange(3), r.choice((0, struct.pack("<Q", 4))), m.buffer(8), 8
    ),
    "kill": lambda m, r: m.call("kill", 0, r.choice((0, 10, 17))),
    "arch_prctl": lambda m, r: m.call("arch_prctl", r.choice((0x1002, 0x1003)), m.buffer(8)),
    "mmap": lambda m, r: m.call("mmap", 0, 9, 1, r.choice((2, 0x22)), fd(r), 0),
    "fsync": lambda m, r: m.call("fsync", fd(r)),
    "execve": lambda m, r: m.call("execve", path(r), 0, 0),
    "uname": lambda m, r: m.call("uname", m.buffer(400)),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(16))
def test_a_call_does_the_same_where_all_that_it_does_not_read_is_different(seed: int) -> None:
    r, m = random.Random(seed), Checked()
    for _ in range(40):
        STEPS[r.choice(list(STEPS))](m, r)
    assert not m.checks.undeclared and m.checks.states > 300


FILE = ("open", b"b", 2)
WRONG: dict[str, tuple[str, str, Part, list[tuple[Any, ...]]]] = {
    "where a read begins": ("read", "reads", Part("offset", 0), [FILE, ("read", 3, bytes(9), 4)]),
    "how many bytes there are": ("read", "reads", Part("size", 0), [FILE, ("read", 3, bytes(99), 90)]),
    "that a read moves on": ("read", "writes", Part("offset", 0), [FILE, ("read", 3, bytes(9), 4)]),
    "what a descriptor is": ("fstat", "reads", Part("node", 0), [FILE, ("fstat", 3, bytes(144))]),
    "times in a status": ("fstat", "reads", Part("times", 0), [FILE, ("fstat", 3, bytes(144))]),
    "which descriptors are free": ("dup", "reads", Part("open"), [FILE, ("dup", 3)]),
    "names in a directory": ("open", "reads", Part("entries"), [FILE]),
    "who owns a new file": ("open", "reads", Part("identity"), [("open", b"new", 0o102, 0o644)]),
    "who else uses a file": ("close", "reads", Part("users", 0), [FILE, ("dup", 3), ("close", 3)]),
    "that a file is written": ("write", "writes", Part("data", 0), [FILE, ("write", 3, b"x", 1)]),
    "that removing changes links": ("unlink", "writes", Part("node"), [("unlink", b"b")]),
    "the clock": ("time", "reads", Part("clock"), [("time", 0)]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_declared_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, side, part, steps = WRONG[name]
    number = NUMBERS[call]
    declared = CALL_EFFECTS[number]
    assert part in getattr(declared, side)
    less = replace(declared, **{side: getattr(declared, side) - {part}})
    m = Checked()
    for step in steps[:-1]:
        m.call(*step)
    monkeypatch.setitem(CALL_EFFECTS, number, less)
    with pytest.raises(AssertionError):
        m.call(*steps[-1])

"""Descriptors: close, dup, fcntl, ioctl, pipe, waiting for input."""

from __future__ import annotations

from typing import Final

from anabranch.analysis.effects import Part, effects
from anabranch.environment.api import Value
from anabranch.environment.posix import errors as e
from anabranch.environment.posix import stat as layouts
from anabranch.environment.posix.declared import (
    CLOSING,
    FILES,
    IDENTITY,
    NODES,
    NUMBERS,
    OPEN,
    PROCESS,
    REPLACING,
    STAMPED,
    TABLE,
    of,
    opened,
)
from anabranch.environment.posix.kernel import Kernel, short_form, system_call
from anabranch.environment.posix.nodes import (
    O_CLOEXEC,
    O_NONBLOCK,
    O_SETTABLE,
    S_IFCHR,
    S_IFIFO,
    Descriptor,
    Node,
)
from anabranch.environment.values import MASK32

F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW = range(8)
F_SETOWN, F_GETOWN = 8, 9
F_DUPFD_CLOEXEC: Final = 1030
F_GETPIPE_SZ: Final = 1032
F_UNLCK: Final = 2
O_LARGEFILE: Final = 0o100000

TCGETS, TCSETS, TCSETSW, TCSETSF = 0x5401, 0x5402, 0x5403, 0x5404
TIOCGPGRP, TIOCSPGRP = 0x540F, 0x5410
TIOCGWINSZ, TIOCSWINSZ, FIONREAD = 0x5413, 0x5414, 0x541B
FIONBIO, FIONCLEX, FIOCLEX = 0x5421, 0x5450, 0x5451
FICLONE: Final = 0x40049409
TERMINAL_REQUESTS: Final = (TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGPGRP, TIOCSPGRP, TIOCGWINSZ, TIOCSWINSZ)

POLLIN, POLLOUT, POLLNVAL = 1, 4, 32
READINESS: Final = (*FILES, Part("node"), Part("size"))


@system_call("close", effects=CLOSING)
def close(k: Kernel, fd: Value) -> Value:
    number = k.descriptor(fd)
    k.fail_on_demand("close")
    k.fs = k.fs.closed(number)
    return 0


@system_call("close_range", effects=REPLACING)
def close_range(k: Kernel, first: Value, last: Value, flags: Value) -> Value:
    low, high = k.number(first) & MASK32, k.number(last) & MASK32
    if low > high or k.number(flags):
        raise e.Failure(e.EINVAL)
    for number in sorted(k.fs.descriptors):
        if low <= number <= high:
            k.fs = k.fs.closed(number)
    return 0


@system_call("dup", effects=effects(reads=[*opened(), OPEN], writes=[Part("fd"), OPEN]))
def dup(k: Kernel, fd: Value) -> Value:
    number = k.descriptor(fd)
    new = k.fs.free_descriptor()
    k.fs = k.fs.duplicated(number, new)
    return new


def duplicate_to(k: Kernel, old: int, new: int, close_on_exec: bool) -> Value:
    if not 0 <= new < 1024:
        raise e.Failure(e.EBADF)
    k.fs = k.fs.duplicated(old, new, close_on_exec)
    return new


@system_call("dup2", effects=REPLACING)
def dup2(k: Kernel, fd: Value, other: Value) -> Value:
    number, new = k.descriptor(fd), k.number(other, "file descriptor")
    return new if number == new else duplicate_to(k, number, new, False)


@system_call("dup3", effects=REPLACING)
def dup3(k: Kernel, fd: Value, other: Value, flags: Value) -> Value:
    number, new, how = k.number(fd, "file descriptor"), k.number(other, "file descriptor"), k.number(flags)
    if number == new or how & ~O_CLOEXEC:
        raise e.Failure(e.EINVAL)
    return duplicate_to(k, k.descriptor(number & MASK32), new, bool(how & O_CLOEXEC))


@system_call("fcntl", effects=effects(reads=[*opened(), OPEN], writes=[Part("fd"), of("file"), OPEN, 2]))
def fcntl(k: Kernel, fd: Value, command: Value, argument: Value) -> Value:
    number = k.descriptor(fd)
    what = k.number(command, "command of fcntl")
    file = k.fs.file(number)
    if what in (F_DUPFD, F_DUPFD_CLOEXEC):
        least = k.number(argument, "file descriptor")
        if not 0 <= least < 1024:
            raise e.Failure(e.EINVAL)
        new = k.fs.free_descriptor(least)
        k.fs = k.fs.duplicated(number, new, what == F_DUPFD_CLOEXEC)
        return new
    if what == F_GETFD:
        return int(k.fs.descriptors[number].close_on_exec)
    if what == F_SETFD:
        set_close_on_exec(k, number, bool(k.number(argument) & 1))
        return 0
    if what == F_GETFL:
        return file.flags | O_LARGEFILE
    if what == F_SETFL:
        flags = file.flags & ~O_SETTABLE | k.number(argument, "flags of fcntl") & O_SETTABLE
        k.fs = k.fs.set_file(number, flags=flags)
        return 0
    if what in (F_SETLK, F_SETLKW):
        return 0
    if what == F_GETLK:
        k.m.store(k.pointer(argument), 2, F_UNLCK)
        return 0
    if what == F_GETPIPE_SZ and k.fs.nodes[file.node].kind == "pipe":
        return 65536
    raise e.Failure(e.EINVAL)


def set_close_on_exec(k: Kernel, number: int, value: bool) -> None:
    old = k.fs.descriptors[number]
    k.fs = k.fs.changed(descriptors=k.fs.descriptors.set(number, Descriptor(old.file, value)))


def is_terminal(k: Kernel, node: Node) -> bool:
    """Terminals, and the symbolic files that show themselves as devices."""
    if node.kind == "terminal":
        return True
    return node.kind in ("file", "stream") and k.decide(node.is_type(S_IFCHR))


@system_call(
    "ioctl",
    effects=effects(
        reads=[*opened(), of("offset"), of("size"), 2, PROCESS],
        writes=[2, of("fd"), of("file"), of("data"), of("size")],
    ),
)
def ioctl(k: Kernel, fd: Value, request: Value, argument: Value) -> Value:
    number = k.descriptor(fd)
    what = k.number(request, "request of ioctl") & MASK32
    node = k.of_known_length(k.fs.node_of(number))
    if what in (FIOCLEX, FIONCLEX):
        set_close_on_exec(k, number, what == FIOCLEX)
        return 0
    if what == FIONBIO:
        on = k.number(k.m.load(k.pointer(argument), 4))
        flags = k.fs.file(number).flags & ~O_NONBLOCK | (O_NONBLOCK if on else 0)
        k.fs = k.fs.set_file(number, flags=flags)
        return 0
    if what == FIONREAD and node.kind in ("file", "pipe"):
        offset = k.word(k.fs.file(number).offset) if node.kind == "file" else 0
        k.m.store(k.pointer(argument), 4, max(len(node.data) - offset, 0))
        return 0
    if what == FICLONE:
        raise e.Failure(e.EOPNOTSUPP)
    if what not in TERMINAL_REQUESTS or not is_terminal(k, node):
        raise e.Failure(e.ENOTTY)
    if what == TCGETS:
        k.give(argument, layouts.termios())
    elif what == TIOCGWINSZ:
        k.give(argument, (24).to_bytes(2, "little") + (80).to_bytes(2, "little") + bytes(4))
    elif what == TIOCGPGRP:
        k.m.store(k.pointer(argument), 4, k.process.pid)
    return 0


@system_call(
    "pipe2",
    effects=effects(reads=[*TABLE, NUMBERS, IDENTITY], writes=[0, *TABLE, *NODES, NUMBERS], passes=[STAMPED]),
)
def pipe2(k: Kernel, result: Value, flags: Value) -> Value:
    how = k.number(flags, "flags of pipe")
    if how & ~(O_CLOEXEC | O_NONBLOCK | 0o40000):
        raise e.Failure(e.EINVAL)
    address = k.pointer(result)
    fs, node = k.fs.add_loose("pipe", S_IFIFO | 0o600)
    close_on_exec, kept = bool(how & O_CLOEXEC), how & O_NONBLOCK
    fs, reading = fs.opened(node, kept, close_on_exec)
    fs, writing = fs.opened(node, kept | 1, close_on_exec)
    fs = fs.put(fs.nodes[node].linked(-1))
    k.give(address, reading.to_bytes(4, "little") + writing.to_bytes(4, "little"))
    k.fs = fs
    return 0


short_form("pipe", pipe2, None, 0)


# ---- waiting -----------------------------------------------------------------------------------------


def ready(k: Kernel, number: int) -> int:
    """What would not block: pipes that are empty or full would, all else is ready."""
    file = k.fs.files[k.fs.descriptors[number].file]
    node = k.fs.nodes[file.node]
    if node.kind != "pipe":
        return (POLLIN if file.readable else 0) | (POLLOUT if file.writable else 0)
    readers, writers = k.fs.ends(node.number)
    result = 0
    if file.readable and (node.data or not writers):
        result |= POLLIN
    if file.writable and (len(node.data) < 65536 or not readers):
        result |= POLLOUT
    return result


@system_call("poll", effects=effects(reads=[0, *READINESS], writes=[0]))
def poll(k: Kernel, array: Value, count: Value, timeout: Value) -> Value:
    number = k.word(count, "number of descriptors")
    if number > 1024:
        raise e.Failure(e.EINVAL)
    base = k.pointer(array) if number else 0
    answers = []
    for i in range(number):
        fd = k.number(k.m.load(base + 8 * i, 4), "file descriptor")
        events = k.number(k.m.load(base + 8 * i + 4, 2), "events of poll") & 0xFFFF
        if fd < 0:
            answers.append(0)
        elif fd not in k.fs.descriptors:
            answers.append(POLLNVAL)
        else:
            answers.append(ready(k, fd) & events)
    for i, answer in enumerate(answers):
        k.m.store(base + 8 * i + 6, 2, answer)
    return sum(answer != 0 for answer in answers)


short_form("ppoll", poll, None, None, 0)


@system_call(
    "select",
    "pselect6",
    effects=effects(reads=[1, 2, 3, *READINESS], writes=[1, 2, 3]),
)
def select(k: Kernel, count: Value, reading: Value, writing: Value, failing: Value, timeout: Value) -> Value:
    highest = k.number(count, "number of descriptors")
    if not 0 <= highest <= 1024:
        raise e.Failure(e.EINVAL)
    size = (highest + 63) // 64 * 8
    results: list[tuple[int, int]] = []
    for pointer, what in ((reading, POLLIN), (writing, POLLOUT), (failing, 0)):
        address = k.word(pointer, "set of descriptors")
        if not address or not size:
            continue
        wanted = 0
        for i in range(0, size, 8):
            wanted |= k.word(k.m.load(address + i, 8), "set of descriptors") << (8 * i)
        answer = 0
        for number in range(highest):
            if wanted >> number & 1:
                k.fs.file(number)
                answer |= (ready(k, number) & what != 0) << number
        results.append((address, answer))
    for address, answer in results:
        k.m.write_bytes(address, answer.to_bytes(size, "little"))
    return sum(answer.bit_count() for _, answer in results)

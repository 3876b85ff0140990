"""Bytes from file to file, random bytes, and calls on files that change nothing to be seen."""

from __future__ import annotations

from anabranch.analysis.effects import PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.ops import add
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.calls_files import available, put, random_bytes, readable, take, writable
from anabranch.environment.posix.declared import RANDOM, of, transferring
from anabranch.environment.posix.kernel import Kernel, system_call
from anabranch.environment.posix.nodes import S_IFREG


def transfer(
    k: Kernel, source: Value, target: Value, count: Value, at: Value | None, to: Value | None
) -> int:
    """Copy bytes between descriptors, at given offsets or at their own."""
    number, file, node = readable(k, source)
    out, out_file, out_node = writable(k, target)
    data = available(k, file, node, count, file.offset if at is None else at)
    done = put(k, out, out_file, out_node, data, to)
    if at is None:
        node = k.fs.nodes[file.node]
        take(k, number, k.fs.file(number), node, done)
    return done


def offset_at(k: Kernel, address: Value) -> tuple[int, Value | None]:
    """The offset that an optional pointer points to."""
    place = k.word(address, "pointer to an offset")
    return place, k.m.load(place, 8) if place else None


@system_call("sendfile", effects=transferring(1, 0, 2))
def sendfile(k: Kernel, target: Value, source: Value, offset: Value, count: Value) -> Value:
    place, at = offset_at(k, offset)
    done = transfer(k, source, target, count, at, None)
    if at is not None:
        k.m.store(place, 8, add(at, done, 64))
    return done


@system_call("copy_file_range", effects=transferring(0, 2, 1, 3))
def copy_file_range(
    k: Kernel,
    source: Value,
    source_offset: Value,
    target: Value,
    target_offset: Value,
    count: Value,
    flags: Value,
) -> Value:
    if k.number(flags):
        raise e.Failure(e.EINVAL)
    for descriptor in (source, target):
        node = k.node(descriptor)
        if node.is_directory:
            raise e.Failure(e.EISDIR)
        if node.kind != "file" or not k.decide(node.is_type(S_IFREG)):
            raise e.Failure(e.EINVAL)
    place, at = offset_at(k, source_offset)
    out_place, to = offset_at(k, target_offset)
    done = transfer(k, source, target, count, at, to)
    if at is not None:
        k.m.store(place, 8, add(at, done, 64))
    if to is not None:
        k.m.store(out_place, 8, add(to, done, 64))
    return done


@system_call("getrandom", effects=effects(reads=[RANDOM], writes=[0, RANDOM]))
def getrandom(k: Kernel, buffer: Value, count: Value, flags: Value) -> Value:
    size = min(k.word(count, "length of getrandom"), 1 << 20)
    data = random_bytes(k, size)
    k.give(buffer, data)
    return size


@system_call(
    "fsync",
    "fdatasync",
    "syncfs",
    "readahead",
    "fadvise64",
    "sync_file_range",
    "flock",
    effects=effects(reads=[of("fd")]),
)
def nothing_with_descriptor(k: Kernel, fd: Value) -> Value:
    """Calls that change nothing that can be seen."""
    k.descriptor(fd)
    return 0


@system_call("sync", effects=PURE)
def sync(k: Kernel) -> Value:
    return 0

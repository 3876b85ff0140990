"""Contents: read, write, seek, truncate, and what descriptors that are no files do instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from anabranch.analysis.effects import Inside, effects
from anabranch.environment.api import Value
from anabranch.environment.ops import add, ite, slt, sub, ugt, ule, ult
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.declared import SIZING, naming, of, opened, reading, writing
from anabranch.environment.posix.filesystem import MAX_SIZE, PIPE_SIZE
from anabranch.environment.posix.kernel import MAX_COUNT, Kernel, system_call
from anabranch.environment.posix.lookup import walk
from anabranch.environment.posix.nodes import O_NONBLOCK, S_IFDIR, S_IFREG, Content, Node, OpenFile, joined
from anabranch.environment.posix.operations import existing
from anabranch.environment.text import as_items
from anabranch.environment.values import MASK64
from anabranch.expr import Expr
from anabranch.ir.types import to_signed

MAX_VECTORS: Final = 1024
SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE = range(5)


def random_bytes(k: Kernel, count: int) -> bytes:
    """Bytes that look random and are the same in every run: splitmix64, a sequence for each call.

    Simple enough for `native/model.c` to give the same ones when a test is replayed.
    """
    k.fixed_answer("random bytes", "are the same in every run")
    state = k.process.random_calls << 32 & MASK64
    k.process = replace(k.process, random_calls=k.process.random_calls + 1)
    words = bytearray()
    while len(words) < count:
        state = state + 0x9E3779B97F4A7C15 & MASK64
        word = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK64
        word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK64
        words += (word ^ word >> 31).to_bytes(8, "little")
    return bytes(words[:count])


def known_offset(k: Kernel, node: Node, offset: Value) -> int | None:
    """An offset into the contents of a file; None if it is at the end or beyond, wherever that may be."""
    if isinstance(offset, Expr):
        if not k.decide(slt(offset, len(node.data), 64)):
            return None
        offset = k.m.pick(offset, 64, "offset into a file")
    return offset if offset < len(node.data) else None


def available(k: Kernel, file: OpenFile, node: Node, count: Value, offset: Value) -> Content:
    """The bytes that a read of `count` gives."""
    if node.is_directory or k.decide(node.is_type(S_IFDIR)):
        raise e.Failure(e.EISDIR)
    if node.kind == "null":
        return b""
    if node.kind in ("zero", "full"):
        return bytes(min(k.word(count, "length of read"), MAX_SIZE))
    if node.kind == "random":
        return random_bytes(k, min(k.word(count, "length of read"), 1 << 20))
    if node.kind == "pipe":
        if not node.data:
            if not k.fs.ends(node.number)[1]:
                return b""
            if file.flags & O_NONBLOCK:
                raise e.Failure(e.EAGAIN)
            k.m.unsupported("read of a pipe that nobody writes to")
        return node.data[: k.at_most(count, len(node.data), "length of read")]
    if node.kind == "terminal":
        raise e.Failure(e.EIO)
    node = k.of_known_length(node)
    start = known_offset(k, node, offset)
    if start is None:
        return b""
    return node.data[start : start + k.at_most(count, len(node.data) - start, "length of read")]


def readable(k: Kernel, descriptor: Value) -> tuple[int, OpenFile, Node]:
    number = k.descriptor(descriptor)
    file = k.fs.file(number)
    if not file.readable:
        raise e.Failure(e.EBADF)
    return number, file, k.fs.nodes[file.node]


def take(k: Kernel, number: int, file: OpenFile, node: Node, count: int) -> None:
    """Advance past bytes that have been read."""
    if node.kind == "pipe":
        k.fs = k.fs.put(node.changed(data=node.data[count:]))
    elif node.kind == "file" and count:
        k.fs = k.fs.set_file(number, offset=add(file.offset, count, 64))


def read_sized(
    k: Kernel, number: int, file: OpenFile, node: Node, places: list[tuple[int, int]]
) -> Value | None:
    """Read from a file whose length depends on the input: how many bytes there were. None if its length has
    to be known."""
    length, offset = node.length, file.offset
    assert length is not None
    if k.decide(node.is_type(S_IFDIR)):
        raise e.Failure(e.EISDIR)
    if k.decide(ule(length, offset, 64)):
        return 0
    wanted = sum(size for _, size in places)
    if isinstance(offset, Expr):
        return None
    if offset + wanted < len(node.data) and k.decide(ugt(length, offset + wanted, 64)):
        scatter(k, places, node.data[offset : offset + wanted])
        take(k, number, file, node, wanted)
        return wanted
    blocks: list[tuple[int, Value, Content]] = []
    start = offset
    for place, size in places:
        left = ite(ult(start, length, 64), sub(length, start, 64), 0, 64)
        count = left if start + size >= len(node.data) else ite(ult(left, size, 64), left, size, 64)
        blocks.append((place, count, node.data[start : start + size]))
        start += size
    rooms = [k.m.room(n, (), (place,)) if isinstance(n, Expr) else 0 for place, n, _ in blocks]
    for room, (place, count, data) in zip(rooms, blocks, strict=True):
        if isinstance(count, Expr):
            k.m.write_up_to(place, count, data[:room])
    k.fs = k.fs.set_file(number, offset=length)
    return sub(length, offset, 64)


@system_call("read", effects=reading(1))
def read(k: Kernel, fd: Value, buffer: Value, count: Value) -> Value:
    number, file, node = readable(k, fd)
    k.fail_on_demand("read")
    if not isinstance(count, Expr) and count == 0 and not node.is_directory:
        return 0
    if node.length is not None and not isinstance(count, Expr):
        done = read_sized(k, number, file, node, [(k.pointer(buffer), min(count, MAX_COUNT))])
        if done is not None:
            return done
    data = available(k, file, node, count, file.offset)
    k.give(buffer, data)
    take(k, number, file, node, len(data))
    return len(data)


def explicit_offset(k: Kernel, node: Node, offset: Value) -> Value:
    """The offset of pread and pwrite."""
    if k.decide(slt(offset, 0, 64)):
        raise e.Failure(e.EINVAL)
    if node.kind == "pipe" or not seekable(k, node):
        raise e.Failure(e.ESPIPE)
    return offset


@system_call("pread64", effects=reading(1))
def pread(k: Kernel, fd: Value, buffer: Value, count: Value, offset: Value) -> Value:
    _, file, node = readable(k, fd)
    k.fail_on_demand("read")
    data = available(k, file, node, count, explicit_offset(k, node, offset))
    k.give(buffer, data)
    return len(data)


def vectors(k: Kernel, address: Value, count: Value) -> list[tuple[int, int]]:
    """Addresses and lengths of an array of struct iovec."""
    number = k.number(count, "number of vectors")
    if not 0 <= number <= MAX_VECTORS:
        raise e.Failure(e.EINVAL)
    if number == 0:
        return []
    base = k.pointer(address)
    found = []
    for i in range(number):
        size = k.word(k.m.load(base + 16 * i + 8, 8), "length of a vector")
        if size >> 63:
            raise e.Failure(e.EINVAL)
        place = k.word(k.m.load(base + 16 * i, 8), "pointer of a vector")
        if size and place == 0:
            raise e.Failure(e.EFAULT)
        found.append((place, size))
    return found


def scatter(k: Kernel, places: list[tuple[int, int]], data: Content) -> None:
    at = 0
    for place, size in places:
        k.m.write_bytes(place, data[at : at + size])
        at += size
        if at >= len(data):
            return


@system_call("readv", effects=reading(Inside(1), 1))
def readv(k: Kernel, fd: Value, array: Value, count: Value) -> Value:
    number, file, node = readable(k, fd)
    places = vectors(k, array, count)
    k.fail_on_demand("read")
    if node.length is not None:
        done = read_sized(k, number, file, node, places)
        if done is not None:
            return done
    data = available(k, file, node, min(sum(size for _, size in places), MAX_COUNT), file.offset)
    scatter(k, places, data)
    take(k, number, file, node, len(data))
    return len(data)


@system_call("preadv", effects=reading(Inside(1), 1))
def preadv(k: Kernel, fd: Value, array: Value, count: Value, offset: Value) -> Value:
    _, file, node = readable(k, fd)
    places = vectors(k, array, count)
    k.fail_on_demand("read")
    total = min(sum(size for _, size in places), MAX_COUNT)
    data = available(k, file, node, total, explicit_offset(k, node, offset))
    scatter(k, places, data)
    return len(data)


# ---- writing -----------------------------------------------------------------------------------------


def writable(k: Kernel, descriptor: Value) -> tuple[int, OpenFile, Node]:
    number = k.descriptor(descriptor)
    file = k.fs.file(number)
    if not file.writable:
        raise e.Failure(e.EBADF)
    return number, file, k.of_known_length(k.fs.nodes[file.node])


def put(k: Kernel, number: int, file: OpenFile, node: Node, data: Content, offset: Value | None) -> int:
    """Write to a node; at the file's own offset, which advances, unless one is given."""
    if node.kind == "full" and data:
        raise e.Failure(e.ENOSPC)
    if node.kind == "pipe":
        return put_into_pipe(k, file, node, data)
    if node.kind == "terminal":
        raise e.Failure(e.EIO)
    if node.kind == "file":
        if not data:
            return 0
        at = k.fs.write_offset(file) if offset is None else offset
        where = k.m.pick(at, 64, "offset of a write")
        if where + len(data) > MAX_SIZE:
            raise e.Failure(e.EFBIG)
        k.fs = k.fs.written(node.number, where, data)
        if offset is None:
            k.fs = k.fs.set_file(number, offset=where + len(data))
    elif node.kind == "stream":
        k.m.emit(as_items(data), node.stream)
        # A pipe has no offset: paths that have written more and less can still be joined.
        if isinstance(node.status.mode, Expr):
            k.fs = k.fs.written(node.number, len(node.data), data)
            k.fs = k.fs.set_file(number, offset=add(file.offset, len(data), 64))
    return len(data)


def put_into_pipe(k: Kernel, file: OpenFile, node: Node, data: Content) -> int:
    if not data:
        return 0
    if not k.fs.ends(node.number)[0]:
        raise e.Failure(e.EPIPE)
    room = PIPE_SIZE - len(node.data)
    if len(data) > room:
        if not file.flags & O_NONBLOCK:
            k.m.unsupported("write to a pipe that nobody empties")
        if room == 0:
            raise e.Failure(e.EAGAIN)
    k.fs = k.fs.put(node.changed(data=joined(node.data, data[:room])))
    return min(room, len(data))


@system_call("write", effects=writing(1))
def write(k: Kernel, fd: Value, buffer: Value, count: Value) -> Value:
    number, file, node = writable(k, fd)
    k.fail_on_demand("write")
    return put(k, number, file, node, k.data(buffer, count, "length of write"), None)


@system_call("pwrite64", effects=writing(1))
def pwrite(k: Kernel, fd: Value, buffer: Value, count: Value, offset: Value) -> Value:
    number, file, node = writable(k, fd)
    k.fail_on_demand("write")
    at = explicit_offset(k, node, offset)
    return put(k, number, file, node, k.data(buffer, count, "length of write"), at)


def gathered(k: Kernel, array: Value, count: Value) -> Content:
    data: Content = b""
    for place, size in vectors(k, array, count):
        data = joined(data, k.data(place, size, "length of a vector"))
    return data


@system_call("writev", effects=writing(Inside(1), 1))
def writev(k: Kernel, fd: Value, array: Value, count: Value) -> Value:
    number, file, node = writable(k, fd)
    data = gathered(k, array, count)
    k.fail_on_demand("write")
    return put(k, number, file, node, data, None)


@system_call("pwritev", effects=writing(Inside(1), 1))
def pwritev(k: Kernel, fd: Value, array: Value, count: Value, offset: Value) -> Value:
    number, file, node = writable(k, fd)
    data = gathered(k, array, count)
    k.fail_on_demand("write")
    return put(k, number, file, node, data, explicit_offset(k, node, offset))


# ---- position and size -------------------------------------------------------------------------------


def seekable(k: Kernel, node: Node) -> bool:
    if node.kind in ("pipe", "terminal"):
        return False
    if node.kind in ("file", "stream"):
        return k.decide(node.is_type(S_IFREG)) or k.decide(node.is_type(S_IFDIR))
    return True


@system_call(
    "lseek",
    effects=effects(
        reads=[*opened(), of("offset"), of("size")], writes=[of("offset"), of("data"), of("size")]
    ),
)
def lseek(k: Kernel, fd: Value, offset: Value, whence: Value) -> Value:
    number = k.descriptor(fd)
    how = k.number(whence, "origin of lseek")
    file = k.fs.file(number)
    node = k.fs.nodes[file.node]
    if not seekable(k, node):
        raise e.Failure(e.ESPIPE)
    if how not in range(5):
        raise e.Failure(e.EINVAL)
    if node.kind in ("null", "zero", "full", "random"):
        return 0
    if how != SEEK_SET or isinstance(offset, Expr):
        node = k.of_known_length(node)
    size = len(node.data)
    if how in (SEEK_DATA, SEEK_HOLE):
        at = known_offset(k, node, offset)
        if at is None or at < 0:
            raise e.Failure(e.ENXIO)
        target: Value = at if how == SEEK_DATA else size
    else:
        origin: Value = {SEEK_SET: 0, SEEK_CUR: file.offset, SEEK_END: size}[how]
        target = add(offset, origin, 64)
        if k.decide(slt(target, 0, 64)):
            raise e.Failure(e.EINVAL)
        if isinstance(target, Expr) and k.decide(ule(target, size, 64)):
            target = k.m.pick(target, 64, "offset of lseek")
    if node.is_directory:
        target = k.word(target, "offset of lseek")
        k.fs = k.fs.set_file(number, offset=target, listing=file.listing if target else None)
    else:
        k.fs = k.fs.set_file(number, offset=target)
    return target


def truncate_to(k: Kernel, node: Node, length: Value) -> None:
    if k.decide(slt(length, 0, 64)):
        raise e.Failure(e.EINVAL)
    if node.is_directory:
        raise e.Failure(e.EISDIR)
    if node.kind != "file":
        raise e.Failure(e.EINVAL)
    if isinstance(length, Expr) and not k.decide(ule(length, MAX_SIZE, 64)):
        raise e.Failure(e.EFBIG)
    node = k.of_known_length(node)
    k.fs = k.fs.truncated(node.number, k.word(length, "length of a file"))


@system_call("ftruncate", effects=SIZING)
def ftruncate(k: Kernel, fd: Value, length: Value) -> Value:
    number = k.descriptor(fd)
    k.fail_on_demand("ftruncate")
    if not k.fs.file(number).writable:
        raise e.Failure(e.EINVAL)
    truncate_to(k, k.fs.node_of(number), length)
    return 0


@system_call("truncate", effects=naming(0))
def truncate(k: Kernel, path: Value, length: Value) -> Value:
    if k.decide(slt(length, 0, 64)):
        raise e.Failure(e.EINVAL)
    node = existing(k.fs, walk(k.fs, k.fs.cwd, k.path(path), k.decide))
    if node.is_directory:
        raise e.Failure(e.EISDIR)
    k.fs.check(node, 2, k.decide)
    truncate_to(k, node, length)
    return 0


@system_call("fallocate", effects=SIZING)
def fallocate(k: Kernel, fd: Value, mode: Value, offset: Value, length: Value) -> Value:
    _, _, node = writable(k, fd)
    start, size = to_signed(k.word(offset), 64), to_signed(k.word(length), 64)
    if start < 0 or size <= 0:
        raise e.Failure(e.EINVAL)
    if node.kind != "file":
        raise e.Failure(e.ENODEV)
    if k.number(mode) != 0:
        raise e.Failure(e.EOPNOTSUPP)
    if start + size > len(node.data):
        k.fs = k.fs.truncated(node.number, start + size)
    return 0

"""str*: functions that write strings.

The source is read as far as the copy loop goes, and no further than the destination has room: the first
byte that does not fit is the error, whatever the rest of the source holds.
"""

from __future__ import annotations

from anabranch.analysis.effects import MADE, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import ByteReader, Bytes, reached, string_length
from anabranch.environment.heap import ALLOCATING, malloc_exactly
from anabranch.environment.memory import check_apart, check_capacity
from anabranch.environment.ops import eq, sub, ule
from anabranch.environment.registry import model
from anabranch.environment.strings import measure
from anabranch.environment.values import move, resolve_length, room_to_write
from anabranch.expr import Expr


def copied(m: MachineApi, dst: Value, src: Value, limit: Value | None = None) -> tuple[Bytes, bool]:
    """What a loop `while (n && (*d = *s))` copies, without the NUL, and whether it met the NUL."""
    reader = ByteReader(m, src)
    room = room_to_write(m, dst)
    plain = None if isinstance(limit, Expr) else limit
    if room is not None and (plain is None or plain > room) and not isinstance(limit, Expr):
        # The loop cannot get past the end of the destination: look no further than that.
        length = string_length(reader, room)
        if length is None:
            m.store(move(dst, room), 1, reader[room])
        return reader.slice(0, length or 0), True
    if not isinstance(limit, Expr):
        length = string_length(reader, limit)
        if length is None:
            assert plain is not None
            return reader.slice(0, plain), False
        return reader.slice(0, length), True
    index = 0
    while not reached(m, index, limit):
        byte = reader[index]
        if index == room:
            m.store(move(dst, index), 1, byte)
        if m.decide(eq(byte, 0, 8)):
            return reader.slice(0, index), True
        index += 1
    return reader.slice(0, index), False


def terminated(data: Bytes) -> Bytes:
    return data + b"\0" if isinstance(data, bytes) else [*data, 0]


def put_string(m: MachineApi, name: str, dst: Value, src: Value, data: Bytes, ended: bool = True) -> None:
    """Write what a copy has read, with a NUL; what it has read must lie elsewhere."""
    m.write_bytes(dst, terminated(data))
    check_apart(m, name, dst, len(data) + 1, src, len(data) + ended)


@model("strcpy", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def strcpy(m: MachineApi, dst: Value, src: Value) -> Value:
    put_string(m, "strcpy", dst, src, *copied(m, dst, src))
    return dst


@model("stpcpy", "__stpcpy", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def stpcpy(m: MachineApi, dst: Value, src: Value) -> Value:
    data, _ = copied(m, dst, src)
    put_string(m, "stpcpy", dst, src, data)
    return move(dst, len(data))


@model("strncpy", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def strncpy(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    _copy_padded(m, dst, src, n)
    return dst


@model("stpncpy", "__stpncpy", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def stpncpy(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    return move(dst, _copy_padded(m, dst, src, n))


def _copy_padded(m: MachineApi, dst: Value, src: Value, n: Value) -> int:
    """Copy at most `n` bytes and fill up with NULs; the length copied."""
    if m.decide(eq(n, 0, 64)):
        return 0
    data, ended = copied(m, dst, src, n)
    size = len(data)
    if not ended:
        m.write_bytes(dst, data)
        check_apart(m, "strncpy", dst, size, src, size)
        return size
    total = resolve_length(m, n, "length of strncpy", writes=(dst,))
    padding = bytes(total - size)
    m.write_bytes(dst, data + padding if isinstance(data, bytes) else [*data, *padding])
    check_apart(m, "strncpy", dst, total, src, size + 1)
    return size


@model("strcat", effects=effects(reads=[0, 1], writes=[0], passes=[(1, 0)], points=[0]))
def strcat(m: MachineApi, dst: Value, src: Value) -> Value:
    end = move(dst, measure(ByteReader(m, dst)))
    put_string(m, "strcat", end, src, *copied(m, end, src))
    return dst


@model("strncat", effects=effects(reads=[0, 1], writes=[0], passes=[(1, 0)], points=[0]))
def strncat(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    end = move(dst, measure(ByteReader(m, dst)))
    put_string(m, "strncat", end, src, *copied(m, end, src, n))
    return dst


@model("strlcpy", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def strlcpy(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    if m.decide(eq(n, 0, 64)):
        return measure(ByteReader(m, src))
    data, _ = copied(m, dst, src, sub(n, 1, 64))
    total = measure(ByteReader(m, src))
    m.write_bytes(dst, terminated(data))
    return total


@model("strlcat", effects=effects(reads=[0, 1], writes=[0], passes=[(1, 0)], points=[0]))
def strlcat(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    length = string_length(ByteReader(m, dst), n)
    total = measure(ByteReader(m, src))
    if length is None:
        return move(n, total)
    end = move(dst, length)
    data, _ = copied(m, end, src, sub(n, length + 1, 64))
    m.write_bytes(end, terminated(data))
    return length + total


@model("strdup", "__strdup", effects=ALLOCATING | effects(reads=[0], passes=[(0, MADE)]))
def strdup(m: MachineApi, src: Value) -> Value:
    reader = ByteReader(m, src)
    return _duplicate(m, reader.slice(0, measure(reader)), "strdup")


@model("strndup", "__strndup", effects=ALLOCATING | effects(reads=[0], passes=[(0, MADE)]))
def strndup(m: MachineApi, src: Value, n: Value) -> Value:
    reader = ByteReader(m, src)
    length = string_length(reader, n)
    if length is None:
        length = resolve_length(m, n, "length of strndup")
    return _duplicate(m, reader.slice(0, length), "strndup")


def _duplicate(m: MachineApi, data: Bytes, what: str) -> Value:
    addr = malloc_exactly(m, len(data) + 1, what)
    if addr:
        m.write_bytes(addr, terminated(data))
    return addr


@model("__strcpy_chk", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def strcpy_chk(m: MachineApi, dst: Value, src: Value, capacity: Value) -> Value:
    _check_length(m, src, 0, capacity, "strcpy")
    return strcpy(m, dst, src)


@model("__stpcpy_chk", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def stpcpy_chk(m: MachineApi, dst: Value, src: Value, capacity: Value) -> Value:
    _check_length(m, src, 0, capacity, "stpcpy")
    return stpcpy(m, dst, src)


@model("__strcat_chk", effects=effects(reads=[0, 1], writes=[0], passes=[(1, 0)], points=[0]))
def strcat_chk(m: MachineApi, dst: Value, src: Value, capacity: Value) -> Value:
    _check_length(m, src, measure(ByteReader(m, dst)), capacity, "strcat")
    return strcat(m, dst, src)


def _check_length(m: MachineApi, src: Value, before: int, capacity: Value, name: str) -> None:
    """A string that does not fit into what the compiler knows of the destination is an abort."""
    if isinstance(capacity, Expr) or capacity < 1 << 32:
        length = string_length(ByteReader(m, src), sub(capacity, before, 64))
        if length is None:
            m.error("abort", f"buffer overflow detected: {name}")


@model("__strncpy_chk", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def strncpy_chk(m: MachineApi, dst: Value, src: Value, n: Value, capacity: Value) -> Value:
    check_capacity(m, n, capacity, "strncpy")
    return strncpy(m, dst, src, n)


@model("__stpncpy_chk", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def stpncpy_chk(m: MachineApi, dst: Value, src: Value, n: Value, capacity: Value) -> Value:
    check_capacity(m, n, capacity, "stpncpy")
    return stpncpy(m, dst, src, n)


@model("__strncat_chk", effects=effects(reads=[0, 1], writes=[0], passes=[(1, 0)], points=[0]))
def strncat_chk(m: MachineApi, dst: Value, src: Value, n: Value, capacity: Value) -> Value:
    if not m.decide(ule(capacity, n, 64)):
        return strncat(m, dst, src, n)
    _check_length(m, src, measure(ByteReader(m, dst)), capacity, "strncat")
    return strncat(m, dst, src, n)

"""mem*: block operations in one step, comparisons and searches as byte loops."""

from __future__ import annotations

from anabranch.analysis.effects import effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import ByteReader, compare, equal_bytes, first_difference, scan
from anabranch.environment.ops import eq, sub, ugt
from anabranch.environment.registry import model
from anabranch.environment.values import copy_of, low_byte, move, resolve_length, widen
from anabranch.expr import Expr
from anabranch.semantics.addresses import overlap


def copy_block(m: MachineApi, dst: Value, src: Value, n: Value, why: str) -> Value:
    """Copy, overlapping or not; the number of bytes."""
    if isinstance(n, Expr) and not (isinstance(src, Expr) or isinstance(dst, Expr)):
        most = m.conditional(n, m.room(n, (src,), (dst,)), dst, src)
        if most is not None:
            m.write_up_to(dst, n, m.contents(src, most))
            return n
    size = resolve_length(m, n, why, reads=(src,), writes=(dst,))
    if size:
        m.copy(dst, src, size)
    return size


def check_apart(m: MachineApi, name: str, dst: Value, written: Value, src: Value, read: Value) -> None:
    """The blocks of a copy must not overlap, unless they begin at one address."""
    if m.decide(overlap(dst, written, src, read)):
        m.error("overlap", f"{name} between blocks that overlap", address=dst, source=src, size=written)


def fill_block(m: MachineApi, dst: Value, byte: Value, n: Value, why: str) -> None:
    value = low_byte(byte)
    if isinstance(n, Expr) and not isinstance(dst, Expr):
        most = m.conditional(n, m.room(n, (), (dst,)), dst)
        if most is not None:
            m.write_up_to(dst, n, [value] * most)
            return
    size = resolve_length(m, n, why, writes=(dst,))
    if size:
        m.fill(dst, value, size)


def check_capacity(m: MachineApi, n: Value, capacity: Value, name: str) -> None:
    """The test of a fortified function: more bytes than the compiler knows there are is an abort."""
    if m.decide(ugt(n, capacity, 64)):
        m.error("abort", f"buffer overflow detected: {name}")


@model("memmove", effects=effects(writes=[0], passes=[(1, 0)], points=[0]))
def memmove(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    copy_block(m, dst, src, n, "length of memmove")
    return dst


@model("__memmove_chk", effects=effects(writes=[0], passes=[(1, 0)], points=[0]))
def memmove_chk(m: MachineApi, dst: Value, src: Value, n: Value, capacity: Value) -> Value:
    check_capacity(m, n, capacity, "memmove")
    return memmove(m, dst, src, n)


@model("memcpy", effects=effects(writes=[0], passes=[(1, 0)], points=[0]))
def memcpy(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    size = copy_block(m, dst, src, n, "length of memcpy")
    check_apart(m, "memcpy", dst, size, src, size)
    return dst


@model("__memcpy_chk", effects=effects(writes=[0], passes=[(1, 0)], points=[0]))
def memcpy_chk(m: MachineApi, dst: Value, src: Value, n: Value, capacity: Value) -> Value:
    check_capacity(m, n, capacity, "memcpy")
    return memcpy(m, dst, src, n)


@model("mempcpy", effects=effects(writes=[0], passes=[(1, 0)], points=[0]))
def mempcpy(m: MachineApi, dst: Value, src: Value, n: Value) -> Value:
    size = copy_block(m, dst, src, n, "length of mempcpy")
    check_apart(m, "mempcpy", dst, size, src, size)
    return move(dst, size)


@model("__mempcpy_chk", effects=effects(writes=[0], passes=[(1, 0)], points=[0]))
def mempcpy_chk(m: MachineApi, dst: Value, src: Value, n: Value, capacity: Value) -> Value:
    check_capacity(m, n, capacity, "mempcpy")
    return mempcpy(m, dst, src, n)


@model("bcopy", effects=effects(writes=[1], passes=[(0, 1)]))
def bcopy(m: MachineApi, src: Value, dst: Value, n: Value) -> None:
    copy_block(m, dst, src, n, "length of bcopy")


@model("memset", effects=effects(writes=[0], points=[0]))
def memset(m: MachineApi, dst: Value, byte: Value, n: Value) -> Value:
    fill_block(m, dst, byte, n, "length of memset")
    return dst


@model("__memset_chk", effects=effects(writes=[0], points=[0]))
def memset_chk(m: MachineApi, dst: Value, byte: Value, n: Value, capacity: Value) -> Value:
    check_capacity(m, n, capacity, "memset")
    fill_block(m, dst, byte, n, "length of memset")
    return dst


@model("bzero", "explicit_bzero", effects=effects(writes=[0]))
def bzero(m: MachineApi, dst: Value, n: Value) -> None:
    fill_block(m, dst, 0, n, "length of bzero")


@model("memcmp", "bcmp", effects=effects(reads=[0, 1]))
def memcmp(m: MachineApi, left: Value, right: Value, n: Value) -> Value:
    if not (isinstance(left, Expr) or isinstance(right, Expr) or isinstance(n, Expr)):
        x, y = m.concrete_bytes(left, n), m.concrete_bytes(right, n)
        if x is not None and y is not None:
            index = first_difference(x, y)
            return 0 if index == n else (x[index] - y[index]) & 0xFFFFFFFF
    a, b = (ByteReader(m, block, up_to_nul=False) for block in (left, right))
    pair = compare(a, b, n, False, equal_bytes)
    return 0 if pair is None else sub(widen(pair[0]), widen(pair[1]), 32)


@model("memchr", effects=effects(reads=[0], points=[0]))
def memchr(m: MachineApi, src: Value, byte: Value, n: Value) -> Value:
    reader = ByteReader(m, src, up_to_nul=False)
    found = scan(reader, (low_byte(byte),), n)
    return 0 if found is None else reader.at(found)


@model("rawmemchr", effects=effects(reads=[0], points=[0]))
def rawmemchr(m: MachineApi, src: Value, byte: Value) -> Value:
    reader = ByteReader(m, src, up_to_nul=False)
    found = scan(reader, (low_byte(byte),))
    assert found is not None
    return reader.at(found)


@model("memrchr", "__memrchr", effects=effects(reads=[0], points=[0]))
def memrchr(m: MachineApi, src: Value, byte: Value, n: Value) -> Value:
    size = resolve_length(m, n, "length of memrchr", reads=(src,))
    wanted = low_byte(byte)
    data = copy_of(m, src, size)
    if isinstance(data, bytes) and not isinstance(wanted, Expr):
        found = data.rfind(wanted)
        return 0 if found < 0 else move(src, found)
    for index in range(size - 1, -1, -1):
        if m.decide(eq(data[index], wanted, 8)):
            return move(src, index)
    return 0


@model("memccpy", effects=effects(reads=[1], writes=[0], passes=[(1, 0)], points=[0]))
def memccpy(m: MachineApi, dst: Value, src: Value, byte: Value, n: Value) -> Value:
    reader = ByteReader(m, src, up_to_nul=False)
    found = scan(reader, (low_byte(byte),), n)
    size = resolve_length(m, n, "length of memccpy", writes=(dst,)) if found is None else found + 1
    if size:
        m.write_bytes(dst, reader.slice(0, size))
    return 0 if found is None else move(dst, size)


@model("memmem", effects=effects(reads=[0, 2], points=[0]))
def memmem(m: MachineApi, hay: Value, hay_size: Value, needle: Value, needle_size: Value) -> Value:
    length = resolve_length(m, needle_size, "length of memmem", reads=(needle,))
    size = resolve_length(m, hay_size, "length of memmem", reads=(hay,))
    if length == 0:
        return hay
    if size < length:
        return 0
    wanted, data = copy_of(m, needle, length), copy_of(m, hay, size)
    if isinstance(wanted, bytes) and isinstance(data, bytes):
        found = data.find(wanted)
        return 0 if found < 0 else move(hay, found)
    for start in range(size - length + 1):
        if all(equal_bytes(m, data[start + i], wanted[i]) for i in range(length)):
            return move(hay, start)
    return 0

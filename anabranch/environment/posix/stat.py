"""Structures that the kernel fills in, as x86-64 lays them out."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

from anabranch.environment.api import Value
from anabranch.environment.ops import extract, lshr
from anabranch.environment.posix.nodes import BLOCK, Content, Node, Status, tidy
from anabranch.environment.values import resize
from anabranch.expr import Expr

#: Fields of struct stat with their bits, in order; "" is padding.
STAT_FIELDS: Final = (
    ("dev", 64), ("ino", 64), ("nlink", 64), ("mode", 32), ("uid", 32), ("gid", 32), ("", 32), ("rdev", 64),
    ("size", 64), ("blksize", 64), ("blocks", 64), ("atime", 64), ("atime_ns", 64), ("mtime", 64),
    ("mtime_ns", 64), ("ctime", 64), ("ctime_ns", 64), ("", 64), ("", 64), ("", 64),
)  # fmt: skip


def little(value: Value, size: int) -> Iterable[Value]:
    """The bytes of a value."""
    if isinstance(value, Expr):
        value = resize(value, 8 * size)
        if isinstance(value, Expr):
            return [extract(value, 8 * i, 8, 8 * size) for i in range(size)]
    return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def packed(fields: Iterable[tuple[Value, int]]) -> Content:
    """Values of so many bytes each, one after the other."""
    data: list[Value] = []
    for value, size in fields:
        data.extend(little(value, size))
    return tidy(tuple(data))


def blocks_of(node: Node, size: Value) -> Value:
    """Blocks of 512 bytes, as a file system with blocks of 4096 bytes counts them."""
    if node.status.blocks is not None:
        return node.status.blocks
    if node.is_directory:
        return 8
    if node.kind not in ("file", "stream") or (isinstance(size, int) and size == 0):
        return 0
    if isinstance(size, Expr):
        return 8
    return (size + BLOCK - 1) // BLOCK * 8


def stat_values(node: Node) -> dict[str, Value]:
    """The fields of struct stat by name."""
    status: Status = node.status
    size = node.size()
    return {
        "dev": status.dev,
        "ino": node.number if status.ino is None else status.ino,
        "nlink": status.nlink,
        "mode": status.mode,
        "uid": status.uid,
        "gid": status.gid,
        "rdev": status.rdev,
        "size": size,
        "blksize": status.blksize,
        "blocks": blocks_of(node, size),
        "atime": status.atime[0],
        "atime_ns": status.atime[1],
        "mtime": status.mtime[0],
        "mtime_ns": status.mtime[1],
        "ctime": status.ctime[0],
        "ctime_ns": status.ctime[1],
        "": 0,
    }


def stat(node: Node) -> Content:
    values = stat_values(node)
    return packed((values[name], bits // 8) for name, bits in STAT_FIELDS)


STATX_BASIC: Final = 0x7FF


def statx(node: Node) -> Content:
    v = stat_values(node)

    def major_minor(device: Value) -> list[tuple[Value, int]]:
        if isinstance(device, Expr):
            return [(resize(lshr(device, 8, 64), 32), 4), (resize(device, 8), 4)]
        return [((device >> 8) & 0xFFF, 4), (device & 0xFF, 4)]

    def time(name: str) -> list[tuple[Value, int]]:
        return [(v[name], 8), (resize(v[f"{name}_ns"], 32), 4), (0, 4)]

    return packed(
        [
            (STATX_BASIC, 4), (resize(v["blksize"], 32), 4), (0, 8), (resize(v["nlink"], 32), 4),
            (v["uid"], 4), (v["gid"], 4), (resize(v["mode"], 16), 2), (0, 2), (v["ino"], 8),
            (v["size"], 8), (v["blocks"], 8), (0, 8), *time("atime"), (0, 8), (0, 8),
            *time("ctime"), *time("mtime"), *major_minor(v["rdev"]), *major_minor(v["dev"]), *[(0, 8)] * 14,
        ]
    )  # fmt: skip


def statfs() -> bytes:
    """A file system of 4 GB, half of it free."""
    return struct.pack(
        "<15Q", 0xEF53, BLOCK, 1 << 20, 1 << 19, 1 << 19, 1 << 18, 1 << 17, 1, 255, BLOCK, 0, 0, 0, 0, 0
    )


def utsname() -> bytes:
    fields = (b"Linux", b"localhost", b"6.1.0", b"#1 SMP", b"x86_64", b"(none)")
    return b"".join(text.ljust(65, b"\0") for text in fields)


def dirent(number: int, offset: int, kind: int, name: Content) -> Content:
    """A record of getdents64."""
    size = (19 + len(name) + 1 + 7) // 8 * 8
    head = struct.pack("<QqHB", number, offset, size, kind)
    tail = bytes(size - 19 - len(name))
    return head + name + tail if isinstance(name, bytes) else (*head, *name, *tail)


def sysinfo(uptime: int) -> bytes:
    memory = 1 << 31
    return struct.pack("<q3Q6QHHIQQI4x", uptime, 0, 0, 0, memory, memory // 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)


def termios() -> bytes:
    """A terminal as it is after login."""
    control = bytes((3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 255, 18, 15, 23, 22, 255, 0, 0))
    return struct.pack("<4IB19s", 0o2400 | 0o400, 0o5, 0o277, 0o105073, 0, control)


def timespec(nanoseconds: int) -> bytes:
    return struct.pack("<qq", nanoseconds // 1_000_000_000, nanoseconds % 1_000_000_000)


def timeval(nanoseconds: int) -> bytes:
    return struct.pack("<qq", nanoseconds // 1_000_000_000, nanoseconds // 1000 % 1_000_000)

"""An independent reader of `.ktest` files (version 1 to 3), so that the engine's own writer is checked."""

from __future__ import annotations

import struct
from pathlib import Path


class KTestError(Exception):
    """The bytes are not a whole test file."""


class _Cursor:
    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        piece = self.data[self.at : self.at + count]
        if len(piece) != count:
            raise KTestError(f"truncated at byte {len(self.data)}")
        self.at += count
        return piece

    def number(self) -> int:
        value: int = struct.unpack(">I", self.take(4))[0]
        return value


def parse_ktest(data: bytes) -> list[tuple[str, bytes]]:
    """The objects of a test, in order; anything left over or missing is an error."""
    cursor = _Cursor(data)
    if cursor.take(5) not in (b"KTEST", b"BOUT\n"):
        raise KTestError("bad magic")
    version = cursor.number()
    if not 1 <= version <= 3:
        raise KTestError(f"version {version}")
    for _ in range(cursor.number()):
        cursor.take(cursor.number())
    if version >= 2:
        cursor.number()
        cursor.number()
    objects = []
    for _ in range(cursor.number()):
        name = cursor.take(cursor.number()).decode()
        objects.append((name, cursor.take(cursor.number())))
    if cursor.at != len(data):
        raise KTestError(f"{len(data) - cursor.at} bytes after the end")
    return objects


def read_ktest(path: Path) -> list[tuple[str, bytes]]:
    return parse_ktest(path.read_bytes())


def write_ktest(path: Path, objects: list[tuple[str, bytes]]) -> None:
    """A version 3 file for a native run of chosen inputs."""
    out = [b"KTEST", struct.pack(">IIII", 3, 0, 0, 0), struct.pack(">I", len(objects))]
    for name, content in objects:
        label = name.encode()
        out += [struct.pack(">I", len(label)), label, struct.pack(">I", len(content)), content]
    path.write_bytes(b"".join(out))

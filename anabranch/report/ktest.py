"""Test inputs in the `.ktest` format, version 3.

Every integer is a big-endian 32-bit number. Readers of the format stumble over empty strings, so no empty
argument, name or object is ever written; and some decode arguments as ASCII, so they are kept to it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"KTEST"
OLD_MAGIC = b"BOUT\n"
VERSION = 3
_U32 = struct.Struct(">I")


class KTestError(ValueError):
    """The bytes are not a whole test file that this version understands."""


@dataclass(frozen=True, slots=True)
class KTest:
    """One test: the arguments of the run and the contents of every symbolic object, in order of creation."""

    objects: tuple[tuple[str, bytes], ...]
    args: tuple[str, ...] = ("anabranch",)
    version: int = VERSION


def encode(objects: Sequence[tuple[str, bytes]], args: Sequence[str] = ()) -> bytes:
    """The file contents for a test; empty arguments and objects are left out."""
    kept_args = [a.encode("ascii", "backslashreplace") for a in args if a] or [b"anabranch"]
    kept = [((name or "unnamed").encode("utf-8", "surrogateescape"), data) for name, data in objects if data]
    parts = [MAGIC, _U32.pack(VERSION), _U32.pack(len(kept_args))]
    for arg in kept_args:
        parts += (_U32.pack(len(arg)), arg)
    parts += (_U32.pack(0), _U32.pack(0), _U32.pack(len(kept)))
    for name, data in kept:
        parts += (_U32.pack(len(name)), name, _U32.pack(len(data)), data)
    return b"".join(parts)


class _Cursor:
    """Reads forward through bytes and complains when they end too soon."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise KTestError(f"the file ends too soon: byte {len(self.data)} where {end} are needed")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def number(self) -> int:
        return int(_U32.unpack(self.take(4))[0])

    def counted(self) -> bytes:
        return self.take(self.number())


def decode(data: bytes) -> KTest:
    """Read the contents of a test file."""
    cursor = _Cursor(data)
    if data[:5] not in (MAGIC, OLD_MAGIC):
        raise KTestError("not a ktest file: it does not start with KTEST")
    cursor.take(5)
    version = cursor.number()
    if version > VERSION:
        raise KTestError(f"version {version} of the format is newer than {VERSION}")
    args = tuple(cursor.counted().decode("utf-8", "surrogateescape") for _ in range(cursor.number()))
    if version >= 2:
        cursor.take(8)
    objects = []
    for _ in range(cursor.number()):
        name = cursor.counted().decode("utf-8", "surrogateescape")
        objects.append((name, cursor.counted()))
    if cursor.at != len(data):
        raise KTestError(f"{len(data) - cursor.at} bytes too many at the end of the file")
    return KTest(tuple(objects), args, version)


def read_ktest(path: Path) -> KTest:
    """Read a test file; the message of an error names the file."""
    try:
        return decode(path.read_bytes())
    except KTestError as error:
        raise KTestError(f"{path}: {error}") from None

"""What the file system is made of: nodes with their metadata, open files, descriptors. All are values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import immutables

from anabranch.environment.api import Value
from anabranch.environment.ops import add, and_, eq, ite
from anabranch.expr import Expr

#: Bytes of a file or a name; a tuple where some of them are symbolic.
Content: TypeAlias = bytes | tuple[Value, ...]

S_IFMT: Final = 0o170000
S_IFLNK: Final = 0o120000
S_IFREG: Final = 0o100000
S_IFDIR: Final = 0o040000
S_IFCHR: Final = 0o020000
S_IFIFO: Final = 0o010000

O_ACCMODE: Final = 3
O_RDONLY: Final = 0
O_WRONLY: Final = 1
O_RDWR: Final = 2
O_CREAT: Final = 0o100
O_EXCL: Final = 0o200
O_TRUNC: Final = 0o1000
O_APPEND: Final = 0o2000
O_NONBLOCK: Final = 0o4000
O_DIRECTORY: Final = 0o200000
O_NOFOLLOW: Final = 0o400000
O_CLOEXEC: Final = 0o2000000
O_PATH: Final = 0o10000000
O_TMPFILE: Final = 0o20200000
#: Flags that F_GETFL reports and those that F_SETFL changes.
O_SETTABLE: Final = O_APPEND | O_NONBLOCK
O_KEPT: Final = O_ACCMODE | O_SETTABLE | O_PATH | O_DIRECTORY | O_NOFOLLOW

DEVICE: Final = 0x801  # st_dev of everything
BLOCK: Final = 4096

Time: TypeAlias = tuple[Value, Value]  # seconds, nanoseconds


@dataclass(frozen=True, slots=True)
class Status:
    """The metadata of a node. Any of it may be symbolic."""

    mode: Value
    uid: Value = 0
    gid: Value = 0
    nlink: Value = 1
    rdev: Value = 0
    dev: Value = DEVICE
    ino: Value | None = None  # None: the number of the node
    blksize: Value = BLOCK
    blocks: Value | None = None  # None: by the size
    atime: Time = (0, 0)
    mtime: Time = (0, 0)
    ctime: Time = (0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    """A file of any type. `kind` says how it behaves, the mode in `status` what type it shows.

    Kinds: file, directory, link, pipe, null, zero, full, random, terminal, stream (1 and 2: the output).
    """

    number: int
    kind: str
    status: Status
    data: Content = b""
    length: Expr | None = None
    """Of a file whose length depends on the input: how many bytes of `data` it has."""
    entries: immutables.Map[bytes, int] = field(default_factory=immutables.Map)
    odd: tuple[tuple[tuple[Value, ...], int], ...] = ()  # entries whose names have symbolic bytes
    parent: int = 0
    stream: int = 0
    written: Value = 0
    """Bytes that have gone to a stream that may show itself as a file; they are in the output of the path."""
    links: int = 1
    """Names that lead here. `status.nlink` is what the program is told, which may be any number."""

    def changed(self, **what: object) -> Node:
        return replace(self, **what)  # type: ignore[arg-type]

    def with_status(self, **what: object) -> Node:
        return replace(self, status=replace(self.status, **what))  # type: ignore[arg-type]

    def linked(self, names: int) -> Node:
        """With so many names more, or fewer."""
        nlink = add(self.status.nlink, names & (1 << 64) - 1, 64)
        return replace(self, links=self.links + names, status=replace(self.status, nlink=nlink))

    @property
    def is_directory(self) -> bool:
        return self.kind == "directory"

    @property
    def is_empty(self) -> bool:
        return not self.entries and not self.odd

    def is_type(self, type: int) -> bool | Expr:
        """The condition that the mode shows a type."""
        return eq(and_(self.status.mode, S_IFMT, 32), type, 32)

    def size(self) -> Value:
        """What `stat` says: the bytes of a file, nothing for pipes and devices."""
        if self.kind == "directory":
            return BLOCK
        if self.kind == "link":
            return len(self.data)
        if self.kind not in ("file", "stream"):
            return 0
        return ite(self.is_type(S_IFREG), self.held(), 0, 64)

    def held(self) -> Value:
        """How many bytes a file has, or a stream as a file."""
        if self.kind == "stream":
            return self.written
        return len(self.data) if self.length is None else self.length

    def names(self) -> list[tuple[Content, int]]:
        """The entries in the order in which they are listed."""
        return [*sorted(self.entries.items()), *self.odd]


@dataclass(frozen=True, slots=True)
class OpenFile:
    """An open file description."""

    node: int
    flags: int
    offset: Value = 0  # symbolic only at the end of the file or beyond
    listing: tuple[tuple[Content, int, int], ...] | None = None  # of a directory that is being read

    @property
    def readable(self) -> bool:
        return self.flags & O_ACCMODE != O_WRONLY and not self.flags & O_PATH

    @property
    def writable(self) -> bool:
        return self.flags & O_ACCMODE in (O_WRONLY, O_RDWR) and not self.flags & O_PATH


@dataclass(frozen=True, slots=True)
class Descriptor:
    """An entry of the table of descriptors."""

    file: int
    close_on_exec: bool = False


def tidy(data: Content) -> Content:
    """Contents as `bytes` where no byte is symbolic."""
    if isinstance(data, bytes):
        return data
    known = [byte for byte in data if not isinstance(byte, Expr)]
    return bytes(known) if len(known) == len(data) else data


def joined(a: Content, b: Content) -> Content:
    if isinstance(a, bytes) and isinstance(b, bytes):
        return a + b
    return (*a, *b)


def overwritten(old: Content, offset: int, new: Content) -> Content:
    """Contents after a write; a gap reads as zeros."""
    if not new:
        return old
    if offset > len(old):
        old = joined(old, bytes(offset - len(old)))
    return tidy(joined(joined(old[:offset], new), old[offset + len(new) :]))


def resized(old: Content, size: int) -> Content:
    return tidy(old[:size]) if size <= len(old) else joined(old, bytes(size - len(old)))

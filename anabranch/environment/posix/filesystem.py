"""The file system as a value: each operation gives a new one, so that paths never see each other's writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import immutables

from anabranch.environment.api import Value
from anabranch.environment.ops import Condition, add, and_, eq, or_
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.joining import join_file_systems
from anabranch.environment.posix.nodes import (
    O_APPEND,
    O_KEPT,
    S_IFCHR,
    S_IFDIR,
    S_IFIFO,
    S_IFLNK,
    S_IFREG,
    Content,
    Descriptor,
    Node,
    OpenFile,
    Status,
    overwritten,
    resized,
    tidy,
)
from anabranch.expr import Expr

ROOT: Final = 2
FIRST_NODE: Final = 11
MAX_DESCRIPTORS: Final = 1024
MAX_NAME: Final = 255
MAX_SIZE: Final = 1 << 26  # larger files are not held
PIPE_SIZE: Final = 65536
START_TIME: Final = 1_600_000_000

Decide = Callable[[Condition], bool]


def concrete(condition: Condition) -> bool:
    """The decision for file systems without symbols."""
    assert not isinstance(condition, Expr)
    return condition


@dataclass(frozen=True, slots=True)
class FileSystem:
    """Nodes by number, open files, descriptors, and what a process sees of them."""

    nodes: immutables.Map[int, Node]
    files: immutables.Map[int, OpenFile] = field(default_factory=immutables.Map)
    descriptors: immutables.Map[int, Descriptor] = field(default_factory=immutables.Map)
    cwd: int = ROOT
    umask: int = 0o022
    uid: int = 0
    gid: int = 0
    next_node: int = FIRST_NODE
    now: int = START_TIME * 1000  # milliseconds

    @staticmethod
    def empty(uid: int = 0, gid: int = 0) -> FileSystem:
        then = (START_TIME, 0)
        status = Status(S_IFDIR | 0o755, nlink=2, atime=then, mtime=then, ctime=then)
        root = Node(ROOT, "directory", status, parent=ROOT)
        return FileSystem(immutables.Map({ROOT: root}), uid=uid, gid=gid)

    def join(self, other: FileSystem, guard: Expr) -> FileSystem:
        """One for two paths: this one where the guard holds, the other where it does not."""
        return join_file_systems(self, other, guard)

    def changed(self, **what: object) -> FileSystem:
        return replace(self, **what)  # type: ignore[arg-type]

    # ---- nodes ---------------------------------------------------------------------------------------

    def time(self) -> tuple[int, int]:
        return self.now // 1000, self.now % 1000 * 1_000_000

    def put(self, node: Node) -> FileSystem:
        return self.changed(nodes=self.nodes.set(node.number, node))

    def add(self, parent: int, name: Content, kind: str, mode: Value, **more: object) -> FileSystem:
        """A new node with a name in a directory; its number is the old `next_node`."""
        now = self.time()
        status = Status(mode, self.uid, self.gid, atime=now, mtime=now, ctime=now)
        if kind == "directory":
            status = replace(status, nlink=2)
            more["parent"] = parent
        node = Node(self.next_node, kind, status).changed(**more)
        fs = self.put(node).changed(next_node=self.next_node + 1)
        return fs.enter(parent, name, node.number)

    def add_loose(self, kind: str, mode: Value, **more: object) -> tuple[FileSystem, int]:
        """A new node without a name."""
        now = self.time()
        status = Status(mode, self.uid, self.gid, atime=now, mtime=now, ctime=now)
        node = Node(self.next_node, kind, status).changed(**more)
        return self.put(node).changed(next_node=self.next_node + 1), node.number

    def enter(self, parent: int, name: Content, number: int) -> FileSystem:
        """Give a node a name; a directory counts as a link of its parent."""
        directory = self.nodes[parent]
        name = tidy(name)
        if isinstance(name, bytes):
            directory = directory.changed(entries=directory.entries.set(name, number))
        else:
            directory = directory.changed(odd=(*directory.odd, (name, number)))
        return self.put(self._touched(directory, 1 if self.nodes[number].is_directory else 0))

    def leave(self, parent: int, name: Content) -> FileSystem:
        """Take a name away; what it stood for keeps its number of links."""
        directory = self.nodes[parent]
        if isinstance(name, bytes):
            number = directory.entries[name]
            directory = directory.changed(entries=directory.entries.delete(name))
        else:
            number = next(child for odd, child in directory.odd if odd is name)
            directory = directory.changed(odd=tuple(entry for entry in directory.odd if entry[0] is not name))
        return self.put(self._touched(directory, -1 if self.nodes[number].is_directory else 0))

    def _touched(self, directory: Node, links: int) -> Node:
        nlink = add(directory.status.nlink, links & (1 << 64) - 1, 64)
        return directory.with_status(mtime=self.time(), ctime=self.time(), nlink=nlink)

    def dropped(self, number: int) -> FileSystem:
        """One link less; a node without links and without users is gone."""
        node = self.nodes[number]
        node = node.linked(-1).with_status(ctime=self.time())
        if node.is_directory:
            node = node.with_status(nlink=0)  # the entries of and in it counted as well
        return self.put(node)._swept(number)

    def _swept(self, number: int) -> FileSystem:
        node = self.nodes.get(number)
        if node is None or node.links != 0 or number == self.cwd:
            return self
        if any(file.node == number for file in self.files.values()):
            return self
        return self.changed(nodes=self.nodes.delete(number))

    # ---- permissions ---------------------------------------------------------------------------------

    def check(self, node: Node, wanted: int, decide: Decide) -> None:
        """Fail with EACCES unless the process may read (4), write (2), execute or search (1) a node."""
        mode = node.status.mode
        if self.uid == 0:
            # The superuser may do anything, but execute only what somebody may execute.
            if wanted & 1 and not node.is_directory and decide(eq(and_(mode, 0o111, 32), 0, 32)):
                raise e.Failure(e.EACCES)
            return
        shift = 0
        if decide(eq(node.status.uid, self.uid, 32)):
            shift = 6
        elif decide(eq(node.status.gid, self.gid, 32)):
            shift = 3
        if wanted and not decide(eq(and_(mode, wanted << shift, 32), wanted << shift, 32)):
            raise e.Failure(e.EACCES)

    def check_owner(self, node: Node, decide: Decide) -> None:
        if self.uid != 0 and not decide(eq(node.status.uid, self.uid, 32)):
            raise e.Failure(e.EPERM)

    # ---- descriptors ---------------------------------------------------------------------------------

    def file(self, number: int) -> OpenFile:
        """The open file of a descriptor."""
        descriptor = self.descriptors.get(number)
        if descriptor is None:
            raise e.Failure(e.EBADF)
        return self.files[descriptor.file]

    def node_of(self, number: int) -> Node:
        return self.nodes[self.file(number).node]

    def set_file(self, number: int, **what: object) -> FileSystem:
        """Change the open file of a descriptor."""
        key = self.descriptors[number].file
        changed = replace(self.files[key], **what)  # type: ignore[arg-type]
        return self.changed(files=self.files.set(key, changed))

    def free_descriptor(self, least: int = 0) -> int:
        number = least
        while number in self.descriptors:
            number += 1
        if number >= MAX_DESCRIPTORS:
            raise e.Failure(e.EMFILE)
        return number

    def opened(self, node: int, flags: int, close_on_exec: bool = False) -> tuple[FileSystem, int]:
        """Open a node at the lowest free descriptor."""
        number, key = self.free_descriptor(), 1
        while key in self.files:  # the lowest free one: a file that was open and is not leaves no trace
            key += 1
        fs = self.changed(
            files=self.files.set(key, OpenFile(node, flags & O_KEPT)),
            descriptors=self.descriptors.set(number, Descriptor(key, close_on_exec)),
        )
        return fs, number

    def duplicated(self, old: int, new: int, close_on_exec: bool = False) -> FileSystem:
        """Let `new` stand for the same open file as `old`."""
        self.file(old)
        fs = self.closed(new) if new in self.descriptors else self
        key = self.descriptors[old].file
        return fs.changed(descriptors=fs.descriptors.set(new, Descriptor(key, close_on_exec)))

    def closed(self, number: int) -> FileSystem:
        self.file(number)
        key = self.descriptors[number].file
        fs = self.changed(descriptors=self.descriptors.delete(number))
        if any(descriptor.file == key for descriptor in fs.descriptors.values()):
            return fs
        node = fs.files[key].node
        return fs.changed(files=fs.files.delete(key))._swept(node)

    def ends(self, node: int) -> tuple[bool, bool]:
        """Whether a pipe is open for reading, and for writing."""
        users = [file for file in self.files.values() if file.node == node]
        return any(file.readable for file in users), any(file.writable for file in users)

    # ---- contents ------------------------------------------------------------------------------------

    def written(self, number: int, offset: int, data: Content) -> FileSystem:
        """A file after a write."""
        node = self.nodes[number]
        contents = overwritten(node.data, offset, data)
        node = node.changed(data=contents).with_status(mtime=self.time(), ctime=self.time(), blocks=None)
        return self.put(node)

    def truncated(self, number: int, size: int) -> FileSystem:
        if size > MAX_SIZE:
            raise e.Failure(e.EFBIG)
        node = self.nodes[number]
        node = node.changed(data=resized(node.data, size), length=None)
        return self.put(node.with_status(mtime=self.time(), ctime=self.time(), blocks=None))

    def write_offset(self, file: OpenFile) -> Value:
        """Where a write without an explicit offset goes."""
        return len(self.nodes[file.node].data) if file.flags & O_APPEND else file.offset


DEVICES: Final = (
    (b"null", "null", 0x103),
    (b"zero", "zero", 0x105),
    (b"full", "full", 0x107),
    (b"random", "random", 0x108),
    (b"urandom", "random", 0x109),
    (b"tty", "terminal", 0x500),
)


def with_directory(fs: FileSystem, path: bytes, mode: int = 0o755) -> tuple[FileSystem, int]:
    """A file system with the directories of an absolute path, and the number of the last."""
    at = ROOT
    for name in path.split(b"/"):
        if not name:
            continue
        child = fs.nodes[at].entries.get(name)
        if child is None:
            child = fs.next_node
            fs = fs.add(at, name, "directory", S_IFDIR | mode)
        at = child
    return fs, at


def standard_file_system(cwd: bytes = b"/home/user", uid: int = 0, gid: int = 0) -> FileSystem:
    """The usual directories and devices, and the three standard streams open."""
    fs = FileSystem.empty(uid, gid)
    fs, _ = with_directory(fs, b"/tmp", 0o1777)
    fs, devices = with_directory(fs, b"/dev")
    for name, kind, rdev in DEVICES:
        number = fs.next_node
        fs = fs.add(devices, name, kind, S_IFCHR | 0o666)
        fs = fs.put(fs.nodes[number].with_status(rdev=rdev))
    for name, target in ((b"stdin", b"0"), (b"stdout", b"1"), (b"stderr", b"2"), (b"fd", b"")):
        fs = fs.add(devices, name, "link", S_IFLNK | 0o777, data=(b"/proc/self/fd/" + target).rstrip(b"/"))
    fs, work = with_directory(fs, cwd)
    fs = fs.changed(cwd=work)
    fs, _ = fs.opened(fs.nodes[devices].entries[b"null"], 0)
    for stream in (1, 2):
        fs, node = fs.add_loose("stream", S_IFIFO | 0o600, stream=stream)
        fs, _ = fs.opened(node, 1)
    return fs


def with_file(fs: FileSystem, path: bytes, data: Content, mode: int = 0o644) -> FileSystem:
    """A file system with a regular file at a path, absolute or seen from the working directory."""
    directory, _, name = path.rpartition(b"/")
    parent = fs.cwd
    if directory or path.startswith(b"/"):
        base = b"" if path.startswith(b"/") else path_of(fs, fs.cwd) + b"/"
        fs, parent = with_directory(fs, base + directory)
    return fs.add(parent, name, "file", S_IFREG | mode, data=data)


def path_of(fs: FileSystem, number: int) -> bytes:
    """The absolute path of a directory; Failure(ENOENT) if it has been removed."""
    parts: list[bytes] = []
    while number != ROOT:
        node = fs.nodes[number]
        if node.links == 0:
            raise e.Failure(e.ENOENT)
        names = [name for name, child in fs.nodes[node.parent].entries.items() if child == number]
        if not names:
            raise e.Failure(e.ENOENT)
        parts.append(names[0])
        number = node.parent
    return b"/" + b"/".join(reversed(parts))


def mode_with(old: Value, new: int) -> Value:
    """A mode with other permission bits."""
    return or_(and_(old, ~0o7777 & 0xFFFFFFFF, 32), new & 0o7777, 32)

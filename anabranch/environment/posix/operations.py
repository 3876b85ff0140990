"""Operations on names: make, link, remove, rename, open. Only paths may have symbolic bytes."""

from __future__ import annotations

from anabranch.environment.posix import errors as e
from anabranch.environment.posix.filesystem import ROOT, Decide, FileSystem
from anabranch.environment.posix.lookup import Found, Text, walk
from anabranch.environment.posix.nodes import (
    O_ACCMODE,
    O_CLOEXEC,
    O_CREAT,
    O_DIRECTORY,
    O_EXCL,
    O_NOFOLLOW,
    O_PATH,
    O_TMPFILE,
    O_TRUNC,
    S_IFDIR,
    S_IFIFO,
    S_IFLNK,
    S_IFMT,
    S_IFREG,
    Content,
    Node,
)

PathText = Content | Text
Place = tuple[int, PathText]

ACCESS = {0: 4, 1: 2, 2: 6, 3: 6}


def existing(fs: FileSystem, found: Found) -> Node:
    if found.node is None:
        raise e.Failure(e.ENOENT)
    return fs.nodes[found.node]


def _changeable(fs: FileSystem, parent: int, decide: Decide) -> None:
    fs.check(fs.nodes[parent], 3, decide)
    if fs.nodes[parent].links == 0:
        raise e.Failure(e.ENOENT)


def open_path(
    fs: FileSystem, start: int, path: PathText, flags: int, mode: int, decide: Decide
) -> tuple[FileSystem, int]:
    """open: the file system and the descriptor."""
    if flags & O_TMPFILE == O_TMPFILE:
        raise e.Failure(e.EOPNOTSUPP)
    if flags & O_CREAT and flags & O_DIRECTORY:
        raise e.Failure(e.EINVAL)
    fs.free_descriptor()
    exclusive = bool(flags & O_CREAT and flags & O_EXCL)
    make = bool(flags & O_CREAT)
    found = walk(fs, start, path, decide, not flags & O_NOFOLLOW and not exclusive, make, make)
    if make and found.slash:
        raise e.Failure(e.EISDIR)
    close = bool(flags & O_CLOEXEC)
    if found.node is None:
        if not make:
            raise e.Failure(e.ENOENT)
        _changeable(fs, found.parent, decide)
        number = fs.next_node
        fs = fs.add(found.parent, found.name, "file", S_IFREG | (mode & 0o7777 & ~fs.umask))
        return fs.opened(number, flags, close)
    node = fs.nodes[found.node]
    if exclusive:
        raise e.Failure(e.EEXIST)
    if node.kind == "link" and not flags & O_PATH:
        raise e.Failure(e.ENOTDIR if flags & O_DIRECTORY else e.ELOOP)
    directory = node.is_directory
    if flags & O_DIRECTORY and not directory:
        raise e.Failure(e.ENOTDIR)
    if flags & O_PATH:
        return fs.opened(node.number, flags & ~O_ACCMODE, close)
    wanted = ACCESS[flags & O_ACCMODE] | (2 if flags & O_TRUNC else 0)
    if directory and (make or wanted & 2):
        raise e.Failure(e.EISDIR)
    fs.check(node, wanted, decide)
    if node.kind == "terminal":
        raise e.Failure(e.ENXIO)
    if flags & O_TRUNC and node.kind == "file":
        fs = fs.truncated(node.number, 0)
    return fs.opened(node.number, flags, close)


def _vacant(fs: FileSystem, start: int, path: PathText, decide: Decide) -> Found:
    """A place where something new can be made."""
    found = walk(fs, start, path, decide, follow=False, entry=True, make=True)
    if found.node is not None:
        raise e.Failure(e.EEXIST)
    return found


def make_directory(fs: FileSystem, start: int, path: PathText, mode: int, decide: Decide) -> FileSystem:
    found = _vacant(fs, start, path, decide)
    _changeable(fs, found.parent, decide)
    return fs.add(found.parent, found.name, "directory", S_IFDIR | (mode & 0o1777 & ~fs.umask))


def make_node(fs: FileSystem, start: int, path: PathText, mode: int, decide: Decide) -> FileSystem:
    found = _vacant(fs, start, path, decide)
    if found.slash:
        raise e.Failure(e.ENOENT)
    _changeable(fs, found.parent, decide)
    type = mode & S_IFMT or S_IFREG
    if type not in (S_IFREG, S_IFIFO):
        raise e.Failure(e.EPERM)
    kind = "file" if type == S_IFREG else "pipe"
    return fs.add(found.parent, found.name, kind, type | (mode & 0o7777 & ~fs.umask))


def make_link(fs: FileSystem, start: int, path: PathText, target: Content, decide: Decide) -> FileSystem:
    """symlink"""
    if not target:
        raise e.Failure(e.ENOENT)
    found = _vacant(fs, start, path, decide)
    if found.slash:
        raise e.Failure(e.ENOENT)
    _changeable(fs, found.parent, decide)
    return fs.add(found.parent, found.name, "link", S_IFLNK | 0o777, data=target)


def hard_link(fs: FileSystem, old: Place, new: Place, follow: bool, decide: Decide) -> FileSystem:
    node = existing(fs, walk(fs, *old, decide, follow))
    found = _vacant(fs, *new, decide)
    if found.slash:
        raise e.Failure(e.ENOENT)
    _changeable(fs, found.parent, decide)
    if node.is_directory:
        raise e.Failure(e.EPERM)
    fs = fs.put(node.linked(1).with_status(ctime=fs.time()))
    return fs.enter(found.parent, found.name, node.number)


def remove_file(fs: FileSystem, start: int, path: PathText, decide: Decide) -> FileSystem:
    """unlink"""
    found = walk(fs, start, path, decide, follow=False, entry=True)
    node = existing(fs, found)
    if found.special:
        raise e.Failure(e.EISDIR)
    if found.slash and not node.is_directory:
        raise e.Failure(e.ENOTDIR)
    _changeable(fs, found.parent, decide)
    if node.is_directory:
        raise e.Failure(e.EISDIR)
    return fs.leave(found.parent, found.name).dropped(node.number)


def remove_directory(fs: FileSystem, start: int, path: PathText, decide: Decide) -> FileSystem:
    """rmdir"""
    found = walk(fs, start, path, decide, follow=False, entry=True)
    node = existing(fs, found)
    if found.special:
        if found.name == b"..":
            raise e.Failure(e.ENOTEMPTY)
        raise e.Failure(e.EBUSY if node.number == ROOT else e.EINVAL)
    if not node.is_directory:
        raise e.Failure(e.ENOTDIR)
    _changeable(fs, found.parent, decide)
    if not node.is_empty:
        raise e.Failure(e.ENOTEMPTY)
    return fs.leave(found.parent, found.name).dropped(node.number)


def _inside(fs: FileSystem, number: int, tree: int) -> bool:
    """Whether a directory is a directory `tree` or below it."""
    while True:
        if number == tree:
            return True
        parent = fs.nodes[number].parent
        if parent == number:
            return False
        number = parent


def rename(fs: FileSystem, old: Place, new: Place, flags: int, decide: Decide) -> FileSystem:
    """renameat2; of its flags, RENAME_NOREPLACE (1)."""
    if flags & ~1:
        raise e.Failure(e.EINVAL)
    source = walk(fs, *old, decide, follow=False, entry=True)
    target = walk(fs, *new, decide, follow=False, entry=True, make=True)
    if source.special or target.special:
        raise e.Failure(e.EEXIST if flags & 1 and not source.special else e.EBUSY)
    node = existing(fs, source)
    if flags & 1 and target.node is not None:
        raise e.Failure(e.EEXIST)
    if not node.is_directory and (source.slash or target.slash):
        raise e.Failure(e.ENOTDIR)
    if node.is_directory and _inside(fs, target.parent, node.number):
        raise e.Failure(e.EINVAL)
    if target.node is not None and _inside(fs, source.parent, target.node):
        raise e.Failure(e.ENOTEMPTY)
    if target.node == node.number:
        return fs
    _changeable(fs, source.parent, decide)
    _changeable(fs, target.parent, decide)
    if target.node is not None:
        replaced = fs.nodes[target.node]
        if node.is_directory and not replaced.is_directory:
            raise e.Failure(e.ENOTDIR)
        if not node.is_directory and replaced.is_directory:
            raise e.Failure(e.EISDIR)
        if replaced.is_directory and not replaced.is_empty:
            raise e.Failure(e.ENOTEMPTY)
        fs = fs.leave(target.parent, target.name).dropped(replaced.number)
    fs = fs.leave(source.parent, source.name).enter(target.parent, target.name, node.number)
    moved = fs.nodes[node.number].with_status(ctime=fs.time())
    return fs.put(moved.changed(parent=target.parent) if moved.is_directory else moved)

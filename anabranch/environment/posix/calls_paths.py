"""Names: open, stat, directories, links."""

from __future__ import annotations

from typing import Final

from anabranch.analysis.effects import Part, effects
from anabranch.environment.api import Value
from anabranch.environment.posix import errors as e
from anabranch.environment.posix import operations as files
from anabranch.environment.posix import stat as layouts
from anabranch.environment.posix.declared import (
    CWD,
    FAILURES,
    IDENTITY,
    LOOKUP,
    OPENING,
    STATUS,
    naming,
    of,
    opened,
    telling,
)
from anabranch.environment.posix.filesystem import path_of
from anabranch.environment.posix.kernel import AT_FDCWD, Kernel, short_form, system_call
from anabranch.environment.posix.lookup import Found, Text, walk
from anabranch.environment.posix.nodes import O_CREAT, O_TRUNC, O_WRONLY, Node
from anabranch.environment.values import MASK32

AT_SYMLINK_NOFOLLOW: Final = 0x100
AT_REMOVEDIR: Final = 0x200
AT_SYMLINK_FOLLOW: Final = 0x400
AT_EMPTY_PATH: Final = 0x1000
HERE: Final = AT_FDCWD & MASK32
ENTRY_TYPES: Final = {"directory": 4, "link": 10, "pipe": 1, "file": 8, "stream": 0}


def lookup(k: Kernel, directory: Value, path: Value, follow: bool = True) -> Found:
    return walk(k.fs, k.start(directory), k.path(path), k.decide, follow)


def node_at(k: Kernel, directory: Value, path: Value, flags: int = 0) -> Node:
    """The node that an *at call means."""
    if flags & AT_EMPTY_PATH:
        address = k.word(path)
        if not address or k.path(address).is_end(0, k.decide):
            return k.fs.nodes[k.start(directory)]
    return files.existing(k.fs, lookup(k, directory, path, not flags & AT_SYMLINK_NOFOLLOW))


def place(k: Kernel, directory: Value, path: Value) -> tuple[int, Text]:
    return k.start(directory), k.path(path)


# ---- open --------------------------------------------------------------------------------------------


@system_call("openat", effects=OPENING)
def openat(k: Kernel, directory: Value, path: Value, flags: Value, mode: Value) -> Value:
    how = k.number(flags, "flags of open")
    permissions = k.number(mode, "mode of open") if how & O_CREAT else 0
    start, text = place(k, directory, path)
    k.fs, number = files.open_path(k.fs, start, text, how, permissions, k.decide)
    return number


short_form("open", openat, HERE, None, None, None)
short_form("creat", openat, HERE, None, O_CREAT | O_WRONLY | O_TRUNC, None)


# ---- stat --------------------------------------------------------------------------------------------


@system_call("fstat", effects=telling(1, *opened(), of("size"), of("times")))
def fstat(k: Kernel, fd: Value, result: Value) -> Value:
    k.give(result, layouts.stat(k.node(fd)))
    return 0


@system_call("newfstatat", effects=telling(2, 1, *LOOKUP, *STATUS))
def newfstatat(k: Kernel, directory: Value, path: Value, result: Value, flags: Value) -> Value:
    k.give(result, layouts.stat(node_at(k, directory, path, k.number(flags, "flags of fstatat"))))
    return 0


short_form("stat", newfstatat, HERE, None, None, 0)
short_form("lstat", newfstatat, HERE, None, None, AT_SYMLINK_NOFOLLOW)


@system_call("statx", effects=telling(4, 1, *LOOKUP, *STATUS))
def statx(k: Kernel, directory: Value, path: Value, flags: Value, mask: Value, result: Value) -> Value:
    k.give(result, layouts.statx(node_at(k, directory, path, k.number(flags, "flags of statx"))))
    return 0


@system_call("statfs", effects=telling(1, 0, *LOOKUP))
def statfs(k: Kernel, path: Value, result: Value) -> Value:
    node_at(k, HERE, path)
    k.give(result, layouts.statfs())
    return 0


@system_call("fstatfs", effects=telling(1, of("fd")))
def fstatfs(k: Kernel, fd: Value, result: Value) -> Value:
    k.descriptor(fd)
    k.give(result, layouts.statfs())
    return 0


@system_call("faccessat2", effects=effects(reads=[1, *LOOKUP]))
def faccessat2(k: Kernel, directory: Value, path: Value, mode: Value, flags: Value) -> Value:
    how, wanted = k.number(flags), k.number(mode, "mode of access")
    if wanted & ~7:
        raise e.Failure(e.EINVAL)
    k.fs.check(node_at(k, directory, path, how), wanted, k.decide)
    return 0


short_form("faccessat", faccessat2, None, None, None, 0)
short_form("access", faccessat2, HERE, None, None, 0)


# ---- directories -------------------------------------------------------------------------------------


@system_call("mkdirat", effects=naming(1))
def mkdirat(k: Kernel, directory: Value, path: Value, mode: Value) -> Value:
    permissions = k.number(mode, "mode of mkdir")
    k.fs = files.make_directory(k.fs, *place(k, directory, path), permissions, k.decide)
    return 0


short_form("mkdir", mkdirat, HERE, None, None)


@system_call("unlinkat", effects=naming(1))
def unlinkat(k: Kernel, directory: Value, path: Value, flags: Value) -> Value:
    how = k.number(flags, "flags of unlink")
    if how & ~AT_REMOVEDIR:
        raise e.Failure(e.EINVAL)
    remove = files.remove_directory if how else files.remove_file
    k.fs = remove(k.fs, *place(k, directory, path), k.decide)
    return 0


short_form("rmdir", unlinkat, HERE, None, AT_REMOVEDIR)
short_form("unlink", unlinkat, HERE, None, 0)


@system_call("chdir", effects=effects(reads=[0, *LOOKUP], writes=[CWD]))
def chdir(k: Kernel, path: Value) -> Value:
    return change_directory(k, node_at(k, HERE, path))


@system_call("fchdir", effects=effects(reads=[*opened(), IDENTITY], writes=[CWD]))
def fchdir(k: Kernel, fd: Value) -> Value:
    return change_directory(k, k.node(fd))


def change_directory(k: Kernel, node: Node) -> Value:
    if not node.is_directory:
        raise e.Failure(e.ENOTDIR)
    k.fs.check(node, 1, k.decide)
    k.fs = k.fs.changed(cwd=node.number)
    return 0


@system_call(
    "getcwd", effects=effects(reads=[CWD, Part("node"), Part("entries"), FAILURES], writes=[0, FAILURES])
)
def getcwd(k: Kernel, buffer: Value, size: Value) -> Value:
    k.fail_on_demand("getcwd")
    path = path_of(k.fs, k.fs.cwd) + b"\0"
    if k.at_most(size, len(path), "size of getcwd") < len(path):
        raise e.Failure(e.ERANGE)
    k.give(buffer, path)
    k.fixed_answer("the working directory", "is /home/user at the start")
    return len(path)


@system_call(
    "getdents64",
    effects=effects(reads=[*opened(), Part("node"), of("entries"), of("offset")], writes=[1, of("offset")]),
)
def getdents64(k: Kernel, fd: Value, buffer: Value, count: Value) -> Value:
    number = k.descriptor(fd)
    file = k.fs.file(number)
    node = k.fs.nodes[file.node]
    if not node.is_directory:
        raise e.Failure(e.ENOTDIR)
    room = k.word(count, "length of getdents")
    listing = file.listing
    if listing is None or file.offset == 0:
        inside = [(name, child, ENTRY_TYPES.get(k.fs.nodes[child].kind, 2)) for name, child in node.names()]
        listing = ((b".", node.number, 4), (b"..", node.parent, 4), *inside)
    at = k.word(file.offset, "offset into a directory")
    data: list[Value] = []
    while at < len(listing):
        name, child, kind = listing[at]
        record = layouts.dirent(child, at + 1, kind, name)
        if len(data) + len(record) > room:
            if not data:
                raise e.Failure(e.EINVAL)
            break
        data.extend(record)
        at += 1
    k.give(buffer, tuple(data))
    k.fs = k.fs.set_file(number, offset=at, listing=listing)
    return len(data)


# ---- links and names ---------------------------------------------------------------------------------


@system_call("symlinkat", effects=naming(0, 2))
def symlinkat(k: Kernel, target: Value, directory: Value, path: Value) -> Value:
    k.fs = files.make_link(k.fs, *place(k, directory, path), k.text(target), k.decide)
    return 0


short_form("symlink", symlinkat, None, HERE, None)


@system_call("linkat", effects=naming(1, 3))
def linkat(k: Kernel, old_directory: Value, old: Value, directory: Value, path: Value, flags: Value) -> Value:
    how = k.number(flags, "flags of link")
    source, target = place(k, old_directory, old), place(k, directory, path)
    k.fs = files.hard_link(k.fs, source, target, bool(how & AT_SYMLINK_FOLLOW), k.decide)
    return 0


short_form("link", linkat, HERE, None, HERE, None, 0)


@system_call("readlinkat", effects=telling(2, 1, *LOOKUP))
def readlinkat(k: Kernel, directory: Value, path: Value, buffer: Value, size: Value) -> Value:
    node = files.existing(k.fs, lookup(k, directory, path, follow=False))
    if node.kind != "link":
        raise e.Failure(e.EINVAL)
    data = node.data[: k.at_most(size, len(node.data), "size of readlink")]
    if not data:
        raise e.Failure(e.EINVAL)
    k.give(buffer, data)
    return len(data)


short_form("readlink", readlinkat, HERE, None, None, None)


@system_call("renameat2", effects=naming(1, 3))
def renameat2(
    k: Kernel, old_directory: Value, old: Value, directory: Value, path: Value, flags: Value
) -> Value:
    how = k.number(flags, "flags of rename")
    k.fs = files.rename(k.fs, place(k, old_directory, old), place(k, directory, path), how, k.decide)
    return 0


short_form("renameat", renameat2, None, None, None, None, 0)
short_form("rename", renameat2, HERE, None, HERE, None, 0)


@system_call("mknodat", effects=naming(1))
def mknodat(k: Kernel, directory: Value, path: Value, mode: Value, device: Value) -> Value:
    permissions = k.number(mode, "mode of mknod")
    k.fs = files.make_node(k.fs, *place(k, directory, path), permissions, k.decide)
    return 0


short_form("mknod", mknodat, HERE, None, None, None)

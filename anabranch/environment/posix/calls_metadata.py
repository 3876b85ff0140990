"""Metadata: permissions, owners, the mask of new files, times."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from anabranch.analysis.effects import PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.ops import either, eq
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.calls_paths import AT_SYMLINK_NOFOLLOW, HERE, node_at
from anabranch.environment.posix.declared import UMASK, metadata
from anabranch.environment.posix.filesystem import mode_with
from anabranch.environment.posix.kernel import Kernel, short_form, system_call
from anabranch.environment.posix.nodes import Node, Time
from anabranch.environment.values import MASK32

UTIME_NOW: Final = 0x3FFFFFFF
UTIME_OMIT: Final = 0x3FFFFFFE


def change_mode(k: Kernel, node: Node, mode: Value) -> Value:
    k.fs.check_owner(node, k.decide)
    new = mode_with(node.status.mode, k.number(mode, "mode of chmod"))
    k.fs = k.fs.put(node.with_status(mode=new, ctime=k.fs.time()))
    return 0


@system_call("fchmodat", effects=metadata(1))
def fchmodat(k: Kernel, directory: Value, path: Value, mode: Value) -> Value:
    k.fail_on_demand("chmod")
    return change_mode(k, node_at(k, directory, path), mode)


short_form("chmod", fchmodat, HERE, None, None)


@system_call("fchmodat2", effects=metadata(1))
def fchmodat2(k: Kernel, directory: Value, path: Value, mode: Value, flags: Value) -> Value:
    node = node_at(k, directory, path, k.number(flags))
    if node.kind == "link":
        raise e.Failure(e.EOPNOTSUPP)
    return change_mode(k, node, mode)


@system_call("fchmod", effects=metadata())
def fchmod(k: Kernel, fd: Value, mode: Value) -> Value:
    k.fail_on_demand("fchmod")
    return change_mode(k, k.node(fd), mode)


def change_owner(k: Kernel, node: Node, owner: Value, group: Value) -> Value:
    uid, gid = k.number(owner, "owner") & MASK32, k.number(group, "group") & MASK32
    status = node.status
    if k.fs.uid != 0:
        # An owner may only say what is so already.
        k.fs.check_owner(node, k.decide)
        if uid not in (MASK32, k.fs.uid) or gid not in (MASK32, k.fs.gid):
            raise e.Failure(e.EPERM)
    status = replace(
        status,
        uid=status.uid if uid == MASK32 else uid,
        gid=status.gid if gid == MASK32 else gid,
        ctime=k.fs.time(),
    )
    k.fs = k.fs.put(node.changed(status=status))
    return 0


@system_call("fchownat", effects=metadata(1))
def fchownat(k: Kernel, directory: Value, path: Value, owner: Value, group: Value, flags: Value) -> Value:
    return change_owner(k, node_at(k, directory, path, k.number(flags)), owner, group)


short_form("chown", fchownat, HERE, None, None, None, 0)
short_form("lchown", fchownat, HERE, None, None, None, AT_SYMLINK_NOFOLLOW)


@system_call("fchown", effects=metadata())
def fchown(k: Kernel, fd: Value, owner: Value, group: Value) -> Value:
    return change_owner(k, k.node(fd), owner, group)


@system_call("umask", effects=effects(reads=[UMASK], writes=[UMASK]))
def umask(k: Kernel, mask: Value) -> Value:
    old = k.fs.umask
    k.fs = k.fs.changed(umask=k.number(mask, "argument of umask") & 0o777)
    return old


def set_times(k: Kernel, node: Node, access: Time | None, change: Time | None) -> Value:
    if k.fs.uid != 0 and not k.decide(either(eq(node.status.uid, k.fs.uid, 32), k.fs.uid == 0)):
        raise e.Failure(e.EPERM)
    status = replace(node.status, ctime=k.fs.time())
    if access is not None:
        status = replace(status, atime=access)
    if change is not None:
        status = replace(status, mtime=change)
    k.fs = k.fs.put(node.changed(status=status))
    return 0


@system_call("utimensat", effects=metadata(1, 2))
def utimensat(k: Kernel, directory: Value, path: Value, times: Value, flags: Value) -> Value:
    how = k.number(flags)
    wanted: list[Time | None] = [k.fs.time(), k.fs.time()]
    address = k.word(times, "pointer to times")
    if address:
        for i in range(2):
            seconds = k.m.load(address + 16 * i, 8)
            nanoseconds = k.word(k.m.load(address + 16 * i + 8, 8), "nanoseconds")
            if nanoseconds == UTIME_OMIT:
                wanted[i] = None
            elif nanoseconds != UTIME_NOW:
                if nanoseconds >= 1_000_000_000:
                    raise e.Failure(e.EINVAL)
                wanted[i] = (seconds, nanoseconds)
    node = node_at(k, directory, path, how) if k.word(path) else k.node(directory)
    return 0 if wanted == [None, None] else set_times(k, node, *wanted)


def microseconds(k: Kernel, address: int) -> tuple[Time, Time]:
    if not address:
        return k.fs.time(), k.fs.time()
    found = []
    for i in range(2):
        part = k.word(k.m.load(address + 16 * i + 8, 8), "microseconds")
        if part >= 1_000_000:
            raise e.Failure(e.EINVAL)
        found.append((k.m.load(address + 16 * i, 8), part * 1000))
    return found[0], found[1]


@system_call("futimesat", effects=metadata(1, 2))
def futimesat(k: Kernel, directory: Value, path: Value, times: Value) -> Value:
    wanted = microseconds(k, k.word(times))
    node = node_at(k, directory, path) if k.word(path) else k.node(directory)
    return set_times(k, node, *wanted)


short_form("utimes", futimesat, HERE, None, None)


@system_call("utime", effects=metadata(0, 1))
def utime(k: Kernel, path: Value, times: Value) -> Value:
    address = k.word(times)
    wanted: tuple[Time, Time] = (k.fs.time(), k.fs.time())
    if address:
        wanted = (k.m.load(address, 8), 0), (k.m.load(address + 8, 8), 0)
    return set_times(k, node_at(k, HERE, path), *wanted)


@system_call(
    "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
    effects=PURE,
)  # fmt: skip
def attributes(k: Kernel) -> Value:
    """No node has extended attributes, as on a file system without them."""
    raise e.Failure(e.EOPNOTSUPP)

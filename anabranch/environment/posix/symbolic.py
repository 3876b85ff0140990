"""Symbolic files and streams, recorded as inputs in the order and under the names that KLEE uses.

The metadata is an input too. KLEE leaves it free but for two constraints; then a program may see files that
no replay can make (a device behind `A`, two files with one inode). Unless told otherwise, it is therefore
held to what a replay can make: a regular file (or a pipe, for standard streams) that its owner may read and
write, with a number of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import immutables

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import Condition, and_, either, eq, ne, ule, ult
from anabranch.environment.posix.filesystem import START_TIME, FileSystem, with_file
from anabranch.environment.posix.kernel import Process
from anabranch.environment.posix.nodes import BLOCK, DEVICE, S_IFIFO, S_IFMT, S_IFREG, Node, Status
from anabranch.environment.posix.stat import STAT_FIELDS
from anabranch.expr import Expr

STDOUT_SIZE: Final = 1024  # the size that the input "stdout" has for KLEE's tools
FAILING: Final = ("read", "write", "close", "ftruncate", "getcwd")
SECOND: Final = 1_000_000_000


def symbolic_status(
    m: MachineApi,
    fs: FileSystem,
    label: str,
    size: int,
    number: int,
    stream: bool,
    free: bool,
    sized: bool = False,
) -> tuple[Status, Expr]:
    """A fresh input in the shape of struct stat, as the status of a node, and the size that it says:
    `size`, or at most that if the length of the file depends on the input (`sized`)."""
    variables = m.fresh_fields(f"{label}_stat", [bits for _, bits in STAT_FIELDS])
    v = {name: variable for (name, _), variable in zip(STAT_FIELDS, variables, strict=True) if name}
    if free:
        m.assume(ne(and_(v["ino"], 0x7FFFFFFF, 64), 0, 64))
        m.assume(eq(and_(v["blksize"], ~0xFFFF & (1 << 64) - 1, 64), 0, 64))
    mode = v["mode"]
    likely: list[Condition] = [
        eq(and_(mode, ~(S_IFMT | 0o777) & 0xFFFFFFFF, 32), 0, 32),
        eq(and_(mode, 0o700, 32), 0o600, 32),
        eq(and_(mode, 0o070, 32), 0o040, 32),
        eq(and_(mode, 0o007, 32), 0o004, 32),
        eq(and_(mode, S_IFMT, 32), S_IFREG, 32),
    ]
    usual: dict[str, int] = {
        "dev": DEVICE, "ino": number, "nlink": 1, "uid": fs.uid, "gid": fs.gid, "rdev": 0, "blksize": BLOCK,
        "ctime": START_TIME, "ctime_ns": 0,
    }  # fmt: skip
    times = {"atime": START_TIME, "atime_ns": 0, "mtime": START_TIME, "mtime_ns": 0}
    values: dict[str, Value] = dict(v)
    if not free:
        _replayable_mode(m, mode, stream)
        if stream:
            usual |= times
        for name, value in usual.items():
            m.assume(eq(v[name], value, v[name].w))
            values[name] = value
        if not sized:
            m.assume(eq(v["size"], size, 64))
        m.assume(eq(v["blocks"], 8, 64))
        for name in () if stream else ("atime", "mtime"):
            m.assume(ult(v[name], 1 << 32, 64))
            m.assume(ult(v[f"{name}_ns"], SECOND, 64))
    if sized:
        m.assume(ule(v["size"], size, 64))
        m.lead_with(eq(v["size"], size, 64))
    for condition in likely:
        m.prefer(condition)
    for name, value in (usual | times).items():
        if isinstance(values[name], Expr) and not name.endswith("_ns"):
            m.prefer(eq(v[name], value, v[name].w))
    status = Status(
        mode=mode,
        uid=values["uid"],
        gid=values["gid"],
        nlink=values["nlink"],
        rdev=values["rdev"],
        dev=values["dev"],
        ino=values["ino"],
        blksize=values["blksize"],
        blocks=8 if free else None,
        atime=(values["atime"], values["atime_ns"]),
        mtime=(values["mtime"], values["mtime_ns"]),
        ctime=(values["ctime"], values["ctime_ns"]),
    )
    return status, v["size"]


def _replayable_mode(m: MachineApi, mode: Expr, stream: bool) -> None:
    """A type that a replay can make; the same answers for the owner and for the superuser."""
    regular = eq(and_(mode, S_IFMT, 32), S_IFREG, 32)
    m.assume(either(regular, eq(and_(mode, S_IFMT, 32), S_IFIFO, 32)) if stream else regular)
    m.assume(eq(and_(mode, 0o600, 32), 0o600, 32))
    m.assume(eq(and_(mode, ~(S_IFMT | 0o777) & 0xFFFFFFFF, 32), 0, 32))
    m.assume(either(ne(and_(mode, 0o100, 32), 0, 32), eq(and_(mode, 0o011, 32), 0, 32)))


def symbolic_file(
    m: MachineApi, fs: FileSystem, label: str, size: int, stream: bool, free: bool, sized: bool
) -> Node:
    """A file whose contents and metadata are inputs; if it is `sized`, also how many bytes it has."""
    number = fs.next_node
    if sized:
        status, length = symbolic_status(m, fs, label, size, number, stream, free, sized=True)
        data = m.fresh_fields(label, [8] * size, length)
        return Node(number, "file", status, data, length)
    data = m.fresh_fields(label, [8] * size)
    status, _ = symbolic_status(m, fs, label, size, number, stream, free)
    return Node(number, "file", status, data)


def with_symbolic_files(
    m: MachineApi, fs: FileSystem, count: int, size: int, free: bool, sized: bool
) -> FileSystem:
    """Files A, B, ... in the working directory."""
    for i in range(count):
        name = chr(ord("A") + i)
        node = symbolic_file(m, fs, f"{name}_data", size, False, free, sized)
        fs = with_file(fs, name.encode(), node.data)
        fs = fs.put(fs.nodes[node.number].changed(status=node.status, length=node.length))
    return fs


def with_symbolic_stdin(m: MachineApi, fs: FileSystem, size: int, free: bool, sized: bool) -> FileSystem:
    node = symbolic_file(m, fs, "stdin", size, True, free, sized)
    number = node.number
    fs = fs.put(node).changed(next_node=number + 1)
    fs, descriptor = fs.closed(0).opened(number, 0)
    assert descriptor == 0
    return fs


def with_symbolic_stdout(m: MachineApi, fs: FileSystem, free: bool) -> FileSystem:
    """Output is kept as that of the path; of the input "stdout" only the metadata is ever seen."""
    m.fresh_fields("stdout", [1024] * (STDOUT_SIZE * 8 // 1024))
    node = fs.node_of(1)
    status, _ = symbolic_status(m, fs, "stdout", STDOUT_SIZE, node.number, True, free)
    return fs.put(node.changed(status=status))


def with_failures(m: MachineApi, process: Process, count: int) -> Process:
    """Let up to `count` calls fail: inputs say which, counting the calls of a name from 1."""
    symbols = {name: m.fresh(f"{name}_fail", 32) for name in FAILING}
    return replace(process, failures_left=count, failing=immutables.Map(symbols))

"""The file systems and processes of two paths as one, guarded where they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import immutables

from anabranch.environment.posix.nodes import Content, Node
from anabranch.expr import Expr, ite
from anabranch.machine.joining import CannotJoin
from anabranch.machine.joining.same import same

if TYPE_CHECKING:
    from anabranch.environment.posix.filesystem import FileSystem
    from anabranch.environment.posix.kernel import Process


def join_file_systems(a: FileSystem, b: FileSystem, guard: Expr) -> FileSystem:
    """Contents may differ byte by byte; which files there are, and where they are open, may not."""
    for name in ("descriptors", "cwd", "umask", "uid", "gid"):
        if not same(getattr(a, name), getattr(b, name)):
            raise CannotJoin(f"different {name} of the process")
    if not same(a.files, b.files):
        raise CannotJoin("open files at different offsets")
    if a.now != b.now:
        raise CannotJoin("different times of day")
    if set(a.nodes) != set(b.nodes):
        raise CannotJoin("files that one side has made")
    nodes = a.nodes
    for number, other in b.nodes.items():
        mine = a.nodes[number]
        if mine is not other:
            nodes = nodes.set(number, join_nodes(mine, other, guard))
    return a.changed(nodes=nodes, next_node=max(a.next_node, b.next_node))


def join_nodes(a: Node, b: Node, guard: Expr) -> Node:
    data = join_contents(a.data, b.data, guard)
    if not same(a.status, b.status):
        raise CannotJoin("different metadata of files")
    if not same(replace(a, data=data), replace(b, data=data)):
        raise CannotJoin("different files")
    return replace(a, data=data)


def join_contents(a: Content, b: Content, guard: Expr) -> Content:
    if same(a, b):
        return a
    if len(a) != len(b):
        raise CannotJoin("files of different lengths")
    return tuple(x if x is y else ite(guard, x, y, 8) for x, y in zip(a, b, strict=True))


def join_processes(a: Process, b: Process) -> Process:
    """Counts of calls matter only where failures or random bytes depend on them."""
    if same(a, b):
        return a
    if a.failures_left or b.failures_left:
        raise CannotJoin("different calls that may fail")
    calls: immutables.Map[str, int] = a.calls
    for name, count in b.calls.items():
        calls = calls.set(name, max(count, calls.get(name, 0)))
    if not same(replace(a, calls=calls), replace(b, calls=calls)):
        raise CannotJoin("different states of the process")
    return replace(a, calls=calls)

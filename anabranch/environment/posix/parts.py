"""The kernel's state of a path in parts, and which parts a declaration means when a call is made.

A part is `(kind, which)`: a descriptor, an open file, a node or, of what there is one of, None. `ANY` stands
for all parts of a kind, those included that are not there.

| kind | of | what it is |
|---|---|---|
| fd | descriptor | the open file, and whether it is closed on exec |
| file | open file | the node and the flags |
| offset | open file | where it is, if not at the start; the listing of a directory that is being read |
| node | node | its type, metadata but for times, links, where a symbolic link leads |
| entries, data, size, times | node | names in a directory; contents; how many they are; times |
| open | | which descriptors and open files there are |
| numbers | | of the next node |
| cwd, umask, identity, clock | | |
| process, signals, limits, random, thread area, failures | | |
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, TypeAlias

from anabranch.environment.posix.filesystem import FileSystem, standard_file_system
from anabranch.environment.posix.kernel import Process
from anabranch.environment.posix.nodes import Node, OpenFile, tidy
from anabranch.expr import Expr
from anabranch.ir.types import to_signed
from anabranch.machine.joining.same import plain, same
from anabranch.memo import Memo


class Which(Enum):
    """Which part of a kind, where it is none in particular."""

    ANY = "any"


ANY: Final = Which.ANY
Key: TypeAlias = tuple[str, Hashable]

STANDARD_PROCESS: Final = Process()
_STORED: Final = frozenset(("file", "link", "pipe", "directory"))
_CONTENTS: Final = frozenset(("offset", "data", "size"))
_PLAIN_KEPT: Final = 20_000


@cache
def standard_files() -> FileSystem:
    """The file system of a path on which nobody has used it."""
    return standard_file_system()


@dataclass(frozen=True, slots=True)
class KernelState:
    """What the kernel keeps for a path."""

    fs: FileSystem
    process: Process


# ---- what a part is ------------------------------------------------------------------------------------


def _node(node: Node) -> tuple[object, ...]:
    s = node.status
    where = tidy(node.data) if node.kind == "link" else b""
    return (
        node.kind, node.parent, node.stream, node.links, where,
        s.mode, s.uid, s.gid, s.nlink, s.rdev, s.dev, s.ino, s.blksize,
    )  # fmt: skip


OF_NODES: Final[dict[str, Callable[[Node], object]]] = {
    "node": _node,
    "entries": lambda node: (node.entries, node.odd),
    "data": lambda node: tidy(node.data),
    "size": lambda node: (node.held(), node.status.blocks),
    "times": lambda node: (node.status.atime, node.status.mtime, node.status.ctime),
}
OF_FILES: Final[dict[str, Callable[[OpenFile], object]]] = {
    "file": lambda file: (file.node, file.flags),
    "offset": lambda file: (
        (file.offset, file.listing) if file.offset.__class__ is Expr or file.offset else None
    ),
}
SINGLE: Final[dict[str, Callable[[KernelState], object]]] = {
    "open": lambda s: (frozenset(s.fs.descriptors), frozenset(s.fs.files)),
    "numbers": lambda s: s.fs.next_node,
    "cwd": lambda s: s.fs.cwd,
    "umask": lambda s: s.fs.umask,
    "identity": lambda s: (s.fs.uid, s.fs.gid),
    "clock": lambda s: s.fs.now,
    "process": lambda s: (s.process.pid, s.process.parent),
    "signals": lambda s: (s.process.actions, s.process.mask),
    "limits": lambda s: s.process.limits,
    "random": lambda s: s.process.random_calls,
    "thread area": lambda s: s.process.thread_area,
    "failures": lambda s: (s.process.failures_left, s.process.failing, s.process.calls),
}
KINDS: Final = frozenset(("fd", *OF_FILES, *OF_NODES, *SINGLE))

_plain: Memo[tuple[str, int], tuple[object, Hashable]] = Memo(_PLAIN_KEPT)


def _known(kind: str, thing: object, of: Callable[[Any], object]) -> Hashable:
    """A part of an immutable thing; most states share most nodes."""
    found = _plain.get((kind, id(thing)))
    if found is None:
        value = of(thing)
        found = _plain.keep((kind, id(thing)), (thing, None if value is None else plain(value)))
    return found[1]


def _things(state: KernelState, kind: str) -> tuple[Any, Callable[[Any], object]]:
    """The map that holds the parts of a kind, and what they are of its values."""
    if kind in OF_NODES:
        return state.fs.nodes, OF_NODES[kind]
    if kind in OF_FILES:
        return state.fs.files, OF_FILES[kind]
    return state.fs.descriptors, lambda descriptor: descriptor


def numbers(state: KernelState, kind: str) -> Iterable[int | None]:
    """Which parts there are of a kind."""
    return (None,) if kind in SINGLE else sorted(_things(state, kind)[0])


def kernel_has(state: KernelState, key: Key) -> bool:
    """Is there such a part?"""
    return key[0] in SINGLE or key[1] in _things(state, key[0])[0]


def kernel_content(state: KernelState, key: Key) -> Hashable:
    """A part, by structure. None: it is not there, or as it was made."""
    kind, which = key
    if kind in SINGLE:
        return plain(SINGLE[kind](state))
    held, of = _things(state, kind)
    if which is ANY:
        return tuple((number, _known(kind, held[number], of)) for number in sorted(held))
    thing = held.get(which)
    return None if thing is None else _known(kind, thing, of)


def kernel_values(state: KernelState, key: Key) -> list[object]:
    """What the content of a part is made of."""
    kind, which = key
    if kind in SINGLE:
        return [SINGLE[kind](state)]
    held, of = _things(state, kind)
    found = held.values() if which is ANY else [held[which]] if which in held else []
    return [of(thing) for thing in found]


def differing_kernel(a: KernelState, b: KernelState) -> Iterator[Key]:
    """The parts that two states do not have in common."""
    for kinds, mine, other in (
        (("fd",), a.fs.descriptors, b.fs.descriptors),
        (tuple(OF_FILES), a.fs.files, b.fs.files),
        (tuple(OF_NODES), a.fs.nodes, b.fs.nodes),
    ):
        if mine is other:
            continue
        for number in {*mine, *other}:
            if mine.get(number) is not other.get(number):
                for kind in kinds:
                    if kernel_content(a, (kind, number)) != kernel_content(b, (kind, number)):
                        yield kind, number
    if a.fs is not b.fs or a.process is not b.process:
        for kind, of in SINGLE.items():
            if not same(of(a), of(b)):
                yield kind, None


# ---- which parts a declaration means -------------------------------------------------------------------


def meant(state: KernelState, kind: str, argument: object, writes: bool) -> Iterator[Key]:
    """The parts of a kind that belong to the open file of a descriptor, known or not.

    What a file has none of is not meant: a stream that is no file has no offset, a device has no size.
    """
    if kind in SINGLE and kind != "random":
        if kind != "failures" or state.process.failing:
            yield kind, None
        return
    number = to_signed(argument & 0xFFFFFFFF, 32) if argument.__class__ is int else None
    if number is None:
        yield from CIRCUMSTANCES[kind](state, None) if kind in CIRCUMSTANCES else ((kind, ANY),)
        return
    if kind == "fd":
        yield kind, number
        return
    descriptor = state.fs.descriptors.get(number)
    if descriptor is None:
        return
    file = state.fs.files[descriptor.file]
    node = state.fs.nodes[file.node]
    if kind in CIRCUMSTANCES:
        yield from CIRCUMSTANCES[kind](state, (descriptor.file, node))
    elif (kind not in _CONTENTS and not (writes and kind == "times")) or holds_contents(node):
        yield kind, descriptor.file if kind in OF_FILES else file.node


def holds_contents(node: Node) -> bool:
    """Does a node keep what is written to it? A stream does if its metadata may show a file."""
    return node.kind in _STORED or (node.kind == "stream" and node.status.mode.__class__ is Expr)


Opened = tuple[int, Node] | None
"""An open file and its node; None if it may be any."""


def _ends(state: KernelState, opened: Opened) -> Iterable[Key]:
    return (("file", ANY),) if opened is None or opened[1].kind == "pipe" else ()


def _users(state: KernelState, opened: Opened) -> Iterable[Key]:
    if opened is None or opened[1].links == 0:
        return ("fd", ANY), ("file", ANY), ("cwd", None)
    return (("fd", ANY),)


def _position(state: KernelState, opened: Opened) -> Iterable[Key]:
    if opened is None:
        return (("offset", ANY),)
    return (("offset", opened[0]),) if opened[1].kind == "file" else ()


def _extent(state: KernelState, opened: Opened) -> Iterable[Key]:
    if opened is None:
        return (("size", ANY),)
    return (("size", opened[1].number),) if opened[1].kind in ("file", "pipe") else ()


def _random(state: KernelState, opened: Opened) -> Iterable[Key]:
    return (("random", None),) if opened is None or opened[1].kind == "random" else ()


CIRCUMSTANCES: Final[dict[str, Callable[[KernelState, Opened], Iterable[Key]]]] = {
    "ends": _ends,
    "users": _users,
    "position": _position,
    "extent": _extent,
    "random": _random,
}
"""Kinds that stand for others, as the file is that a descriptor is open on.

*ends*: who else is open on a pipe. *users*: who else uses the file, which ends with the last of them.
*position*: the offset, where a write goes to one. *extent*: the size, where a write depends on it.
*random*: how many random bytes there were, of the devices that give some.
"""


def choosing(state: KernelState, argument: object) -> Iterator[Key]:
    """The parts that decide which file a descriptor is open on."""
    for kind in ("fd", "file", "node"):
        yield from meant(state, kind, argument, False)

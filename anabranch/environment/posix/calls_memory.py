"""Mappings: every mapping is an object of its own. The break never moves, so that nobody uses it."""

from __future__ import annotations

from typing import Final

from anabranch.analysis.effects import MADE, PURE, effects
from anabranch.environment.api import Value
from anabranch.environment.heap import too_large, wanted_size
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.declared import of, opened, telling
from anabranch.environment.posix.kernel import Kernel, system_call
from anabranch.environment.posix.nodes import Content
from anabranch.expr import Expr

PAGE: Final = 4096
PROT_WRITE: Final = 2
MAP_SHARED: Final = 1
MAP_FIXED: Final = 0x10
MAP_ANONYMOUS: Final = 0x20
MREMAP_MAYMOVE: Final = 1
KIND: Final = "mapping"


def pages(k: Kernel, length: Value) -> int:
    """A length rounded up to whole pages."""
    if isinstance(length, Expr):
        if too_large(k.m, length, 1):
            raise e.Failure(e.ENOMEM)
        length = k.word(length, "length of a mapping")
    wanted = wanted_size(k.m, length, "mmap")
    if wanted is None:
        raise e.Failure(e.ENOMEM)
    if wanted.capacity == 0:
        raise e.Failure(e.EINVAL)
    return (wanted.capacity + PAGE - 1) // PAGE * PAGE


def mapped(k: Kernel, size: int, contents: Content = b"") -> int:
    """A new mapping that begins with some contents; the rest is zero."""
    address = k.m.allocate(size, KIND, "mmap", zero=True)
    if contents:
        k.m.write_bytes(address, contents)
    return address


@system_call(
    "mmap",
    effects=effects(
        reads=[*opened(4), of("size", 4)],
        writes=[of("data", 4), of("size", 4)],
        passes=[(of("data", 4), MADE)],
        points=[MADE],
    ),
)
def mmap(
    k: Kernel, address: Value, length: Value, protection: Value, flags: Value, fd: Value, offset: Value
) -> Value:
    how, access = k.number(flags, "flags of mmap"), k.number(protection, "protection of mmap")
    size = pages(k, length)
    if how & MAP_FIXED:
        k.lose("mapping at a fixed address")
        raise e.Failure(e.ENOMEM)
    if how & MAP_ANONYMOUS:
        return mapped(k, size)
    number = k.descriptor(fd)
    node = k.fs.node_of(number)
    start = k.word(offset, "offset of mmap")
    if start % PAGE:
        raise e.Failure(e.EINVAL)
    if not k.fs.file(number).readable:
        raise e.Failure(e.EACCES)
    if node.kind == "zero":
        return mapped(k, size)
    if node.kind != "file":
        raise e.Failure(e.ENODEV)
    if how & MAP_SHARED and access & PROT_WRITE:
        k.lose("shared mapping of a file for writing")
        raise e.Failure(e.ENODEV)
    return mapped(k, size, k.of_known_length(node).data[start : start + size])


@system_call("munmap", effects=effects(ends=[0]))
def munmap(k: Kernel, address: Value, length: Value) -> Value:
    place, size = k.word(address, "address of munmap"), pages(k, length)
    if place % PAGE:
        raise e.Failure(e.EINVAL)
    info, offset = k.m.object_of(place)
    if info.site.kind == KIND and offset == 0 and size >= info.size:
        k.m.release(place)
    return 0


@system_call("mremap", effects=effects(passes=[(0, MADE)], points=[MADE], ends=[0]))
def mremap(k: Kernel, address: Value, old: Value, new: Value, flags: Value) -> Value:
    place, size = k.word(address, "address of mremap"), pages(k, new)
    if not k.number(flags) & MREMAP_MAYMOVE:
        raise e.Failure(e.ENOMEM)
    info, offset = k.m.object_of(place)
    if info.site.kind != KIND or offset:
        raise e.Failure(e.EFAULT)
    moved = mapped(k, size)
    k.m.copy(moved, place, min(size, info.size))
    k.m.release(place)
    return moved


@system_call("brk", effects=PURE)
def brk(k: Kernel, address: Value) -> Value:
    return PAGE


@system_call(
    "mprotect", "madvise", "msync", "mlock", "munlock", "mlockall", "munlockall", "membarrier", effects=PURE
)
def nothing(k: Kernel) -> Value:
    return 0


@system_call("mincore", effects=telling(2))
def mincore(k: Kernel, address: Value, length: Value, result: Value) -> Value:
    k.give(result, b"\1" * (pages(k, length) // PAGE))
    return 0

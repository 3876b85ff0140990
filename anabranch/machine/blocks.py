"""Blocks that are filled with one byte, or copied. Sparse objects are written by whole pages."""

from __future__ import annotations

from typing import Any

from anabranch.machine.memory import Memory
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.pages import check_block
from anabranch.machine.sparse import (
    PAGE_BITS,
    PAGE_MASK,
    PAGE_SIZE,
    SHORTEST_RUN,
    SPARSE_SIZE,
    between,
    uniform_page,
    with_run,
)

Value = Any
AT_ONCE = 1 << 16  # bytes that are copied in one step


def fill(memory: Memory, address: int, byte: Value, size: int) -> None:
    """Overwrite a block with one byte."""
    info = memory.check_access(address, size, write=True)
    if info.blank is None or size <= SPARSE_SIZE:
        memory.overwrite(address, repeated(byte, size))
        return
    first, end = address + PAGE_MASK >> PAGE_BITS, address + size >> PAGE_BITS
    _fill_pages(memory, info, first, end, byte)
    memory.overwrite(address, repeated(byte, -address & PAGE_MASK))
    memory.overwrite(end << PAGE_BITS, repeated(byte, address + size & PAGE_MASK))


def repeated(byte: Value, size: int) -> bytes | list[Value]:
    """One byte over and over."""
    check_block(size)
    return bytes((byte,)) * size if byte.__class__ is int else [byte] * size


def _fill_pages(memory: Memory, info: ObjectInfo, first: int, end: int, byte: Value) -> None:
    """Let whole pages of a sparse object hold one byte over and over."""
    if end - first < SHORTEST_RUN:
        memory.share(dict.fromkeys(range(first, end), uniform_page(byte)))
        return
    assert info.blank is not None
    memory.drop_pages(range(first, end))
    base = info.base >> PAGE_BITS
    # It is replaced even if the runs stay the same, so that whoever compares states sees that it has changed.
    memory.fresh[info.id] = info.with_blank(with_run(info.blank, first - base, end - base, byte))


def copy(memory: Memory, to: int, source: int, size: int) -> None:
    """Copy a block, overlapping or not. Sparse objects share the pages that lie in the same way in both."""
    origin = memory.check_access(source, size, write=False)
    target = memory.check_access(to, size, write=True)
    sparse = origin.blank is not None and target.blank is not None
    if not sparse or origin is target or (to ^ source) & PAGE_MASK:
        _copy_bytes(memory, to, source, size)
        return
    head = min(size, -source & PAGE_MASK)
    whole = size - head & ~PAGE_MASK
    _copy_bytes(memory, to, source, head)
    _copy_pages(memory, to + head, source + head, whole)
    _copy_bytes(memory, to + head + whole, source + head + whole, size - head - whole)


def _copy_pages(memory: Memory, to: int, source: int, size: int) -> None:
    """Whole pages from one sparse object to another."""
    memory.freeze()
    origin = memory.find(source >> 32)
    assert origin is not None and origin.blank is not None
    first, base = source >> PAGE_BITS, origin.base >> PAGE_BITS
    shift = (to >> PAGE_BITS) - first
    keys = range(first, first + size // PAGE_SIZE)
    for start, end, byte in between(origin.blank, first - base, keys.stop - base):
        target = memory.find(to >> 32)
        assert target is not None
        _fill_pages(memory, target, base + start + shift, base + end + shift, byte)
    memory.share({key + shift: memory.pages[key] for key in memory.present(keys)})


def _copy_bytes(memory: Memory, to: int, source: int, size: int) -> None:
    check_block(size)
    starts = range(0, size, AT_ONCE)
    for start in reversed(starts) if to > source else starts:
        memory.overwrite(to + start, memory.contents(source + start, min(AT_ONCE, size - start)))

"""Sparse objects: large objects that have pages only where they were written.

What the other pages of a sparse object hold is a property of the object: runs of pages, each of one byte over
and over. `malloc` makes one run of undefined bytes, `calloc` one of zeros, and `memset` of a large range adds
one. So an object of some GiB costs nothing until it is used, and neither does its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Value = Any  # int | Expr
Page = Any  # bytearray | list[int | Expr]

PAGE_BITS = 8
PAGE_SIZE = 1 << PAGE_BITS
PAGE_MASK = PAGE_SIZE - 1
LAST = 1 << 32 - PAGE_BITS
"""Behind the last page that an object can have."""

SPARSE_SIZE = 64 * PAGE_SIZE
"""Objects larger than this are sparse. Making and dropping the pages of smaller ones costs little; those of
larger ones, which `sort` of the coreutils makes on each path, took half of its time."""
SHORTEST_RUN = 1 << 12
"""Fewer pages than these, written with one byte, are pages as any other: states that differ in their runs are
neither merged nor compared."""

Runs = tuple[tuple[int, Value], ...]
"""`(number of the first page behind the run, its byte)`, ascending; the last run ends at `LAST`."""


def one_run(byte: Value) -> Runs:
    return ((LAST, byte),)


def byte_at(runs: Runs, position: int) -> Value:
    """What a page of an object holds."""
    return next(byte for end, byte in runs if position < end)


def with_run(runs: Runs, first: int, end: int, byte: Value) -> Runs:
    """The runs after some pages, up to `end`, were overwritten."""
    parts = [(stop, old) for _, stop, old in between(runs, 0, first)]
    parts.append((end, byte))
    parts += [(stop, old) for _, stop, old in between(runs, end, LAST)]
    following = [*(old for _, old in parts[1:]), None]
    return tuple([part for part, after in zip(parts, following, strict=True) if part[1] is not after])


def between(runs: Runs, first: int, end: int) -> Iterator[tuple[int, int, Value]]:
    """`(first page, page behind the last, byte)` of the parts of runs among some pages."""
    start = 0
    for stop, byte in runs:
        if max(start, first) < min(stop, end):
            yield max(start, first), min(stop, end), byte
        start = stop


def same_runs(a: Runs | None, b: Runs | None) -> bool:
    """Are the bytes the same? Those that are expressions are interned, and must not be compared by `==`."""
    if a is b:
        return True
    if a is None or b is None or len(a) != len(b):
        return False
    return all(x[0] == y[0] and x[1] is y[1] for x, y in zip(a, b, strict=True))


def uniform_page(byte: Value, size: int = PAGE_SIZE) -> Page:
    """A page of one byte over and over."""
    return bytearray((byte,)) * size if byte.__class__ is int else [byte] * size

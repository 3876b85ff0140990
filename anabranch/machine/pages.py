"""The pages of the running path: 256 bytes each, shared copy-on-write between states.

A page is a `bytearray` while every byte is known and a `list` of ints and byte expressions otherwise,
so that a byte load is `S[address >> 8][address & 255]` in both cases. Three tables hold the pages:

- `pages`, an immutable map, is what waiting states share;
- `W` holds the pages that this path alone owns and may write (emptied by a fork);
- `S` is the read cache; every page in `W` is in `S` too.

Fast paths of translated code touch only `S` and `W`; whatever they cannot do raises and goes the slow way.

The pages of an object with an extent have keys of their own, which no address leads to (`LIMITED`). Under the
keys of its addresses, `S` shows no more of them than the running path has proved to be there, `W` nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import immutables

from anabranch.machine import sparse
from anabranch.machine.ends import Loss
from anabranch.machine.objects import LIMITED, NUMBER_MASK, PAGE_NUMBER_BITS, ObjectInfo

PAGE_BITS = sparse.PAGE_BITS
PAGE_SIZE = sparse.PAGE_SIZE
PAGE_MASK = sparse.PAGE_MASK
PREFETCH = 48  # with so few pages, filling the read cache at once is cheaper than missing in it
MAX_BLOCK = 1 << 26  # bytes of a block that are used one by one

Page = Any  # bytearray | list[int | Expr]
Value = Any  # int | bool | Expr


def check_block(size: int) -> None:
    """Some hundred MiB, byte by byte, would not fit into the engine's own memory."""
    if size > MAX_BLOCK:
        raise Loss("unsupported", "very large block of memory")


class PageStore:
    """The three tables of pages, and the objects that they belong to."""

    def __init__(self) -> None:
        self.S: dict[int, Page] = {}
        self.W: dict[int, Page] = {}
        self.pages: immutables.Map[int, Page] = immutables.Map()
        self.objects: immutables.Map[int, ObjectInfo] = immutables.Map()
        self.fresh: dict[int, ObjectInfo] = {}
        """Objects that were made or replaced since the last fork."""
        self.proved: dict[int, int] = {}
        """Number of an object with an extent -> bytes that the running path has proved to be there."""
        self.shown: set[int] = set()
        """Keys of addresses under which `S` has the first bytes of a page of such an object."""
        self.dropped = 0
        """Pages of large objects that have died."""
        self.absent: Callable[[int], Page | None] | None = None
        """Makes the pages of reserved objects, by the number of the page that is missing."""

    # ---- sharing -------------------------------------------------------------------------------------

    def share_pages(self) -> None:
        """From now on the first write to a page copies it."""
        self.pages = self.pages.update(self.W)
        self.W.clear()

    def restore_pages(
        self, pages: immutables.Map[int, Page], objects: immutables.Map[int, ObjectInfo]
    ) -> None:
        S = self.S
        if pages is self.pages and objects is self.objects and not self.fresh and self.absent is None:
            # It was forked off by the path that ran last, as depth first: only what that path has written
            # since is different. (memspn 14%, echo_bare 10% of the time)
            for key in self.W:
                page = pages.get(key)
                if page is not None:
                    S[key] = page
                else:
                    S.pop(key, None)
            for key in self.shown:
                S.pop(key, None)
        else:
            S.clear()
            if len(pages) <= PREFETCH:
                S.update(pages.items())
        if self.proved:  # else nothing is shown either
            self.shown.clear()
            self.proved.clear()
        self.W.clear()
        self.pages = pages

    # ---- objects -------------------------------------------------------------------------------------

    def find(self, number: int) -> ObjectInfo | None:
        info = self.fresh.get(number)
        return info if info is not None else self.objects.get(number)

    def key_of(self, address: int) -> int:
        """The key of the page that an address leads to."""
        info = self.find(address >> 32)
        key = address >> PAGE_BITS
        return key if info is None or info.extent is None else key | LIMITED

    # ---- making and dropping -------------------------------------------------------------------------

    def fill(self, base: int, size: int, content: bytes) -> None:
        key = base >> PAGE_BITS
        for start in range(0, max(1, size), PAGE_SIZE):
            self.S[key] = self.W[key] = bytearray(content[start : start + PAGE_SIZE])
            key += 1

    def limit_pages(self, info: ObjectInfo) -> None:
        """Move the pages of an object that gets an extent to where no address leads."""
        for key in info.keys:
            page = self.page(key)
            assert page is not None
            self.S[key | LIMITED] = self.W[key | LIMITED] = page[:]
        self.drop_pages(info.keys)

    def show(self, info: ObjectInfo, end: int) -> None:
        """Let the quick ways to read have the first bytes of an object with an extent."""
        for position, key in enumerate(info.keys):
            rest = end - (position << PAGE_BITS)
            if rest <= 0:
                return
            page = self.page(key)
            assert page is not None
            self.S[key ^ LIMITED] = page[:rest]
            self.shown.add(key ^ LIMITED)

    def hide(self, info: ObjectInfo) -> None:
        """Undo `show`."""
        for key in info.keys:
            self.S.pop(key ^ LIMITED, None)
            self.shown.discard(key ^ LIMITED)
        self.proved.pop(info.id, None)

    def drop_object(self, info: ObjectInfo) -> None:
        """Forget the pages of an object."""
        if info.extent is not None:
            self.hide(info)
        self.drop_pages(info.keys)

    def drop_pages(self, keys: range) -> None:
        """Forget some pages of an object."""
        for table in (self.S, self.W):
            for key in keys if len(keys) <= len(table) else [key for key in table if key in keys]:
                table.pop(key, None)
        if len(keys) == 1:
            if keys[0] in self.pages:
                self.pages = self.pages.delete(keys[0])
            return
        present = self.present(keys)
        self.dropped += len(present)
        if not present:
            return
        pages = self.pages.mutate()  # much quicker than one map after another
        for key in present:
            del pages[key]
        self.pages = pages.finish()

    def present(self, keys: range) -> list[int]:
        """Which of these pages waiting states may share are there."""
        pages = self.pages
        return (
            [key for key in keys if key in pages]
            if len(keys) <= len(pages)
            else [key for key in pages if key in keys]
        )

    def written(self, info: ObjectInfo, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of an object, around some offsets, that have pages: `(start, end)` in any order."""
        first = info.base >> PAGE_BITS
        keys = range(first + (start >> PAGE_BITS), first + (end + PAGE_MASK >> PAGE_BITS))
        found = {*self.present(keys), *(key for key in self.W if key in keys)}
        return [(key - first << PAGE_BITS, key - first + 1 << PAGE_BITS) for key in found]

    def share(self, pages: dict[int, Page]) -> None:
        """Put pages into the store that others may have as well."""
        for key in pages:
            self.S.pop(key, None)
            self.W.pop(key, None)
        self.pages = self.pages.update(pages)

    # ---- reading and writing -------------------------------------------------------------------------

    def page(self, key: int) -> Page | None:
        page = self.S.get(key)
        if page is None:
            page = self.pages.get(key)
            if page is None:
                info = self.find(key >> PAGE_NUMBER_BITS & NUMBER_MASK)
                if info is None or info.blank is None:
                    return self.absent(key) if self.absent is not None else None
                page = info.blank_page(key)
            if page is not None:
                self.S[key] = page
        return page

    def writable(self, key: int) -> Page | None:
        page = self.W.get(key)
        if page is None:
            page = self.page(key)
            if page is not None:
                page = self.W[key] = self.S[key] = page[:]
        return page

    def settle(self, key: int, page: Page) -> None:
        """A page whose bytes have all become known goes back to the quick representation."""
        try:
            known = bytearray(page)
        except TypeError:
            return
        self.S[key] = known
        if key in self.W:
            self.W[key] = known

    def contents(self, address: int, size: int) -> list[Value]:
        """Bytes of one object that are known to be there, or are not accessed by the program."""
        check_block(size)
        data: list[Value] = []
        key, offset = self.key_of(address), address & PAGE_MASK
        while size > 0:
            page = self.W.get(key)
            if page is None:
                page = self.page(key)
            assert page is not None
            part = page[offset : offset + size]
            data.extend(part)
            size -= len(part)
            key, offset = key + 1, 0
        return data

    def overwrite(self, address: int, data: Sequence[Value]) -> None:
        """Overwrite bytes of one object that are known to be there."""
        start, size = 0, len(data)
        key, offset = self.key_of(address), address & PAGE_MASK
        while start < size:
            page = self.writable(key)
            assert page is not None
            count = min(size - start, len(page) - offset)
            part = data[start : start + count]
            if part.__class__ is not bytes and page.__class__ is bytearray:
                try:
                    part = bytes(part)
                except TypeError:
                    page = self.W[key] = self.S[key] = list(page)
            page[offset : offset + count] = part
            if page.__class__ is list:
                self.settle(key, page)
            if key & LIMITED and key ^ LIMITED in self.shown:
                self.S[key ^ LIMITED] = page[: len(self.S[key ^ LIMITED])]
            start += count
            key, offset = key + 1, 0

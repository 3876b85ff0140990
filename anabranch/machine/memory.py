"""The store of the running path: pages of 256 bytes, shared copy-on-write between states.

A page is a `bytearray` while every byte is known and a `list` of ints and byte expressions otherwise,
so that a byte load is `S[address >> 8][address & 255]` in both cases. Three tables hold the pages:

- `pages`, an immutable map, is what waiting states share;
- `W` holds the pages that this path alone owns and may write (emptied by a fork);
- `S` is the read cache; every page in `W` is in `S` too.

Fast paths of translated code touch only `S` and `W`; whatever they cannot do raises and comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import immutables

from anabranch.expr import Expr, join_bytes, split_value, undefined
from anabranch.ir.types import to_signed
from anabranch.machine import sparse
from anabranch.machine.ends import Fault, Loss, ProgramError
from anabranch.machine.objects import (
    MAX_OBJECT,
    NEAR,
    OFFSET_MASK,
    PAGE_NUMBER_BITS,
    STACK_COUNTS,
    STACK_NUMBERS,
    AllocationSite,
    ObjectInfo,
    ObjectNumbers,
)
from anabranch.machine.sparse import SPARSE_SIZE, one_run, same_runs
from anabranch.semantics.addresses import MASK64

if TYPE_CHECKING:
    from anabranch.machine.extents import Extent

PAGE_BITS = sparse.PAGE_BITS
PAGE_SIZE = sparse.PAGE_SIZE
PAGE_MASK = sparse.PAGE_MASK
PREFETCH = 48  # with so few pages, filling the read cache at once is cheaper than missing in it
MAPS_KEPT = 10_000
MAX_BLOCK = 1 << 26  # bytes of a block that are used one by one

Page = Any  # bytearray | list[int | Expr]
Objects = immutables.Map[int, ObjectInfo]
Value = Any  # int | bool | Expr

from_bytes = int.from_bytes


def check_size(site: AllocationSite, size: int) -> None:
    """Locals have one number each, so that they are not larger than what one number stands for."""
    if size > (NEAR if site.kind == "stack" else MAX_OBJECT):
        raise Loss("object too large")


def check_block(size: int) -> None:
    """Some hundred MiB, byte by byte, would not fit into the engine's own memory."""
    if size > MAX_BLOCK:
        raise Loss("unsupported", "very large block of memory")


class Memory:
    """Objects and pages of the running path, and the complete (slow) way to reach them."""

    def __init__(self, numbers: ObjectNumbers) -> None:
        self.S: dict[int, Page] = {}
        self.W: dict[int, Page] = {}
        self.pages: immutables.Map[int, Page] = immutables.Map()
        self.objects: immutables.Map[int, ObjectInfo] = immutables.Map()
        self.fresh: dict[int, ObjectInfo] = {}
        self.counts: dict[int, int] = {}
        self._counts_shared = False
        self._constant_pages: set[int] = set()  # of objects that nobody may write, the same on all paths
        self._limited_pages: set[int] = set()
        """Pages of objects with an extent, the same on all paths. They are never in `W`, and in `S` only as
        far as the running path has proved that they may be accessed."""
        self.proved: dict[int, int] = {}
        """Number of an object with an extent -> bytes that the running path has proved to be there."""
        # By the identity of maps of objects: the map itself, and the one to which its last local was added.
        self._before: dict[int, tuple[Objects, Objects]] = {}
        self._nothing: Page | None = None
        self.allocated = 0
        """Objects that were made."""
        self.dropped = 0
        """Pages of large objects that have died."""
        self.numbers = numbers
        self.blank: Callable[[int, int, AllocationSite], None] = self.leave_undefined
        """Makes what is in a fresh object: its address, size and site."""
        self.absent: Callable[[int], Page | None] | None = None
        """Makes the pages of reserved objects, by the number of the page that is missing."""
        self.widen: Callable[[ObjectInfo], ObjectInfo] | None = None
        """Is asked before an access beyond an object, and may have made it larger."""
        self.require: Callable[[ObjectInfo, Value, dict[str, object]], None]
        """Checks that an object with an extent has the bytes before an offset."""
        self.symbolic_load: Callable[[Expr, int], Value]
        self.symbolic_store: Callable[[Expr, int, Value], None]

    # ---- sharing -------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Make everything shareable: from now on the first write to a page copies it."""
        if self.W:
            self.pages = self.pages.update(self.W)
            self.W.clear()
        if self.fresh:
            self._add_objects()
        self._counts_shared = True

    def _add_objects(self) -> None:
        """Locals one after the other: when they go again, in the opposite order, there is the very map that
        was there before them. Paths that came back from a call are known by it to have the same objects."""
        fresh, before = self.fresh, self._before
        local = [number for number in fresh if number >= STACK_NUMBERS]
        objects = self.objects
        if len(local) < len(fresh):
            objects = objects.update({n: info for n, info in fresh.items() if n < STACK_NUMBERS})
        if len(before) > MAPS_KEPT:
            before.clear()
        for number in local:
            more = objects.set(number, fresh[number])
            before[id(more)] = (more, objects)
            objects = more
        self.objects = objects
        fresh.clear()

    def _remove_object(self, number: int) -> None:
        """One that is there: if it was not in the map before, it is what that map lacks."""
        known = self._before.get(id(self.objects))
        if known is not None and number not in known[1]:
            self.objects = known[1]
        else:
            self.objects = self.objects.delete(number)

    def restore(
        self,
        pages: immutables.Map[int, Page],
        objects: immutables.Map[int, ObjectInfo],
        counts: dict[int, int],
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
        else:
            S.clear()
            if len(pages) <= PREFETCH:
                S.update(pages.items())
        for key in self._limited_pages:
            S.pop(key, None)
        self.proved.clear()
        self.W.clear()
        self.fresh.clear()
        self.pages = pages
        self.objects = objects
        self.counts = counts
        self._counts_shared = True

    # ---- objects -------------------------------------------------------------------------------------

    def find(self, number: int) -> ObjectInfo | None:
        info = self.fresh.get(number)
        return info if info is not None else self.objects.get(number)

    def named(self, number: int) -> ObjectInfo | None:
        """The object that a number nearest to an address names: those that are large have two."""
        info = self.find(number)
        if info is None and (before := self.find(number - 1)) is not None and before.size > NEAR:
            return before
        return info

    def live_objects(self) -> list[ObjectInfo]:
        everything = dict(self.objects)
        everything.update(self.fresh)
        return [info for _, info in sorted(everything.items()) if not info.end]

    def stack_numbers(self) -> frozenset[int]:
        """The numbers of all locals alive."""
        everything = (*self.objects.items(), *self.fresh.items())
        return frozenset(number for number, info in everything if info.site.kind == "stack")

    def allocate(
        self,
        site: AllocationSite,
        size: int,
        content: bytes | None = None,
        zero: bool = False,
        base: int | None = None,
    ) -> int:
        """A new object; its bytes are uninitialised unless `content` is given or they are to be zero. Its
        address. Globals have theirs, `base`: every state has a table of how often each site has allocated, in
        which hundreds of them would be all alike."""
        check_size(site, size)
        if base is None:
            base = self.new_address(site, size)
        number = base >> 32
        self.fresh[number] = ObjectInfo(number, size, site)
        self.allocated += 1
        if zero and size > SPARSE_SIZE:
            self.make_sparse(number, 0)
        elif zero or content is not None:
            self.fill(base, size, content or bytes(size))
        else:
            self.blank(base, size, site)
        if site.kind == "constant":
            first = base >> PAGE_BITS
            self._constant_pages.update(range(first, first + (size + PAGE_MASK >> PAGE_BITS)))
        return base

    def new_address(self, site: AllocationSite, size: int = 0) -> int:
        """Where the next object of a site will be, or a local whose scope has not begun."""
        if self._counts_shared:
            self.counts = self.counts.copy()
            self._counts_shared = False
        counts = self.counts
        count = counts[site.number] = counts.get(site.number, 0) + 1
        number = self.numbers.number(site, count, size)
        if number >= STACK_NUMBERS and count > STACK_COUNTS and self.find(number) is not None:
            raise Loss("too many live locals", site.name)
        return number << 32

    def begin_scope(self, base: int, site: AllocationSite, size: int) -> None:
        """A local comes to life at its address, uninitialised; it may be alive from the last iteration."""
        number = base >> 32
        if self.find(number) is None:
            check_size(site, size)
            self.fresh[number] = ObjectInfo(number, size, site)
            self.allocated += 1
        elif size > PAGE_SIZE:
            self.drop_pages(base, size)
        self.blank(base, size, site)

    def count_contents(self, site: AllocationSite) -> int:
        """How often the path has made fresh contents at a site, this time included. A negative number of a
        site counts them: a local of a loop is one object that is uninitialised again in each iteration."""
        if self._counts_shared:
            self.counts = self.counts.copy()
            self._counts_shared = False
        count = self.counts[-site.number] = self.counts.get(-site.number, 0) + 1
        return count

    def reserve(self, number: int, size: int, site: AllocationSite) -> None:
        """An object without pages, unless there is one of that number: `absent` makes them on access."""
        if self.find(number) is None:
            self.fresh[number] = ObjectInfo(number, size, site)

    def forget(self, info: ObjectInfo) -> None:
        """Drop what is in an object: `absent` makes it anew."""
        self.drop_pages(info.base, info.size)

    def limit(self, info: ObjectInfo, extent: Extent) -> None:
        """Give an object an extent; its size is the capacity from now on."""
        first = info.base >> PAGE_BITS
        for key in range(first, first + (info.size + PAGE_MASK >> PAGE_BITS)):
            page = self.writable(key)
            assert page is not None
            self.pages = self.pages.set(key, list(page))
            self._limited_pages.add(key)
            self.S.pop(key, None)
            self.W.pop(key, None)
        self.fresh[info.id] = ObjectInfo(info.id, info.size, info.site, extent=extent)

    def show(self, info: ObjectInfo, end: int) -> None:
        """Let the quick ways to read have the first bytes of an object with an extent."""
        key = info.base >> PAGE_BITS
        for start in range(0, end, PAGE_SIZE):
            page = self.pages[key]
            self.S[key] = page if start + PAGE_SIZE <= end else page[: end - start]
            key += 1

    def fill(self, base: int, size: int, content: bytes) -> None:
        key = base >> PAGE_BITS
        for start in range(0, max(1, size), PAGE_SIZE):
            self.S[key] = self.W[key] = bytearray(content[start : start + PAGE_SIZE])
            key += 1

    def leave_undefined(self, base: int, size: int, site: AllocationSite) -> None:
        key = base >> PAGE_BITS
        if size <= PAGE_SIZE:
            self.S[key] = self.W[key] = [undefined(8)] * size
            return
        if size > SPARSE_SIZE:
            self.make_sparse(base >> 32, undefined(8))
            return
        whole = size >> PAGE_BITS
        self.pages = self.pages.update(dict.fromkeys(range(key, key + whole), self._undefined_page()))
        if size & PAGE_MASK:
            self.S[key + whole] = self.W[key + whole] = [undefined(8)] * (size & PAGE_MASK)

    def make_sparse(self, number: int, byte: Value) -> None:
        """Let an object that has no pages hold one byte over and over."""
        info, blank = self.find(number), one_run(byte)
        assert info is not None
        if not same_runs(info.blank, blank):
            self.fresh[number] = info.with_blank(blank)

    def _undefined_page(self) -> Page:
        """A page without known bytes: one for all objects and paths, until somebody writes to it."""
        page = self._nothing
        if page is None or page[0] is not undefined(8):
            page = self._nothing = [undefined(8)] * PAGE_SIZE
        return page

    def release(self, info: ObjectInfo, how: str) -> None:
        """End the life of an object; later accesses find out how."""
        number = info.id
        self.fresh[number] = info.dead(how)
        self.drop_pages(info.base, info.size)

    def release_stack(self, bases: tuple[int, ...]) -> None:
        """Locals that go out of scope, which some have done before their frame returns, leave no trace: their
        number tells what they were."""
        fresh, S, W = self.fresh, self.S, self.W
        for base in reversed(bases):
            number = base >> 32
            info = fresh.pop(number, None)
            if number in self.objects:
                info = info if info is not None else self.objects[number]
                self._remove_object(number)
            if info is None:
                continue
            if info.size > PAGE_SIZE:
                self.drop_pages(base, info.size)
                continue
            page = base >> PAGE_BITS
            S.pop(page, None)
            W.pop(page, None)
            if page in self.pages:
                self.pages = self.pages.delete(page)

    def drop_pages(self, base: int, size: int) -> None:
        """Forget the pages of an object, or some of its pages."""
        first = base >> PAGE_BITS
        keys = range(first, first + max(1, (size + PAGE_MASK) >> PAGE_BITS))
        for table in (self.S, self.W):
            for key in keys if len(keys) <= len(table) else [key for key in table if key in keys]:
                table.pop(key, None)
        if len(keys) == 1:
            if first in self.pages:
                self.pages = self.pages.delete(first)
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

    # ---- complete accesses ---------------------------------------------------------------------------

    def page(self, key: int) -> Page | None:
        page = self.S.get(key)
        if page is None:
            page = self.pages.get(key)
            if key in self._limited_pages:
                return None  # not all of it may be there
            if page is None:
                info = self.find(key >> PAGE_NUMBER_BITS)
                if info is None or info.blank is None:
                    return self.absent(key) if self.absent is not None else None
                page = info.blank_page(key)
            if page is not None:
                self.S[key] = page
        return page

    def writable(self, key: int) -> Page | None:
        page = self.W.get(key)
        if page is None:
            if key in self._limited_pages:
                page = self.pages[key][:]
                self.pages = self.pages.set(key, page)
                self.S.pop(key, None)
                self.proved.pop(key >> PAGE_NUMBER_BITS, None)
                return page
            page = self.page(key)
            if page is not None:
                page = self.W[key] = self.S[key] = page[:]
        return page

    def load(self, address: Value, size: int) -> Value:
        """`size` bytes as one value, every check made."""
        if address.__class__ is not int:
            return self.symbolic_load(address, size)
        key, offset = address >> PAGE_BITS, address & PAGE_MASK
        page = self.S.get(key)
        if page is None:
            page = self.page(key)
        end = offset + size
        if page is None or end > len(page):
            return self._load_across(address & MASK64, size)
        if page.__class__ is bytearray:
            return from_bytes(page[offset:end], "little")
        if size == 1:
            return page[offset]
        data = page[offset:end]
        if offset == 0:
            self._settle(key, page)
        try:
            return from_bytes(data, "little")
        except TypeError:
            return join_bytes(data)

    def store(self, address: Value, size: int, value: Value) -> None:
        """Write `size` bytes, every check made."""
        if address.__class__ is not int:
            self.symbolic_store(address, size, value)
            return
        key, offset = address >> PAGE_BITS, address & PAGE_MASK
        page = self.W.get(key)
        end = offset + size
        if page is None:
            page = self.page(key)
            if page is None or end > len(page) or key in self._constant_pages or key in self._limited_pages:
                self.write_bytes(address & MASK64, split_value(value, size))
                return
            page = self.W[key] = self.S[key] = page[:]
        elif end > len(page):
            self.write_bytes(address & MASK64, split_value(value, size))
            return
        if value.__class__ is Expr:
            if page.__class__ is bytearray:
                page = self.W[key] = self.S[key] = list(page)
            page[offset:end] = split_value(value, size)
        else:
            # Address arithmetic outside of all objects may have left the range of its width.
            page[offset:end] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            if end == len(page) and page.__class__ is list:
                self._settle(key, page)

    def _settle(self, key: int, page: Page) -> None:
        """A page whose bytes have all become known goes back to the quick representation."""
        try:
            known = bytearray(page)
        except TypeError:
            return
        self.S[key] = known
        if key in self.W:
            self.W[key] = known

    def _load_across(self, address: int, size: int) -> Value:
        data = self.read_bytes(address, size)
        try:
            return from_bytes(data, "little")
        except TypeError:
            return join_bytes(data)

    def read_bytes(self, address: int, size: int) -> list[Value]:
        """Some bytes of one object."""
        self.check_access(address, size, write=False)
        return self.contents(address, size)

    def contents(self, address: int, size: int) -> list[Value]:
        """Bytes of one object that are known to be there, or are not accessed by the program."""
        check_block(size)
        data: list[Value] = []
        while size > 0:
            offset = address & PAGE_MASK
            key = address >> PAGE_BITS
            page = self.W.get(key)
            if page is None:
                page = self.pages[key] if key in self._limited_pages else self.page(key)
            assert page is not None
            part = page[offset : offset + size]
            data.extend(part)
            address += len(part)
            size -= len(part)
        return data

    def write_bytes(self, address: int, data: Sequence[Value]) -> None:
        """Overwrite some bytes of one object."""
        self.check_access(address, len(data), write=True)
        self.overwrite(address, data)

    def overwrite(self, address: int, data: Sequence[Value]) -> None:
        """Overwrite bytes of one object that are known to be there."""
        start, size = 0, len(data)
        while start < size:
            key, offset = address >> PAGE_BITS, address & PAGE_MASK
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
            if page.__class__ is list and key not in self._limited_pages:
                self._settle(key, page)
            address += count
            start += count

    def copied(self, to: Value, source: Value, size: int) -> bool:
        """Copy from one page to one that is this path's own, as most copies are; False if they are not."""
        if to.__class__ is not int or source.__class__ is not int:
            return False
        page, own = self.S.get(source >> PAGE_BITS), self.W.get(to >> PAGE_BITS)
        start, at = source & PAGE_MASK, to & PAGE_MASK
        if page is None or own is None or start + size > len(page) or at + size > len(own):
            return False
        part = page[start : start + size]
        if own.__class__ is bytearray:
            try:
                own[at : at + size] = bytes(part)
            except TypeError:
                return False
        else:
            own[at : at + size] = part
            if at + size == len(own):
                self._settle(to >> PAGE_BITS, own)
        return True

    def concrete_bytes(self, address: int, size: int) -> bytes | None:
        """The bytes if they are all known, else None; the access is checked."""
        if size <= PAGE_SIZE - (address & PAGE_MASK):
            page = self.page(address >> PAGE_BITS)
            offset = address & PAGE_MASK
            if page is not None and offset + size <= len(page):
                try:
                    return bytes(page[offset : offset + size])
                except TypeError:
                    return None
        try:
            return bytes(self.read_bytes(address, size))
        except TypeError:
            return None

    # ---- checks --------------------------------------------------------------------------------------

    def check_access(self, address: int, size: int, write: bool) -> ObjectInfo:
        """The object that holds all of an access, or the error that the access is."""
        info = self.find(address >> 32)
        if self.widen is not None and info is not None and (address & 0xFFFFFFFF) + size > info.size:
            info = self.widen(info)
        if info is None or info.end or (address & 0xFFFFFFFF) + size > info.size:
            self.bad_access(address, size, write)
        if write and info.readonly:
            raise ProgramError(
                Fault("read-only", "write to constant memory", self.access_info(address, size, write, info))
            )
        if info.extent is not None:
            end = (address & OFFSET_MASK) + size
            self.require(info, end, self.access_info(address, size, write, info))
        return info

    def fault_of(self, address: int, size: int, write: bool) -> Fault | None:
        """The error that an access would be."""
        try:
            self.check_access(address, size, write)
        except ProgramError as error:
            return error.fault
        return None

    def access_info(
        self, address: Value, size: int, write: bool, info: ObjectInfo | None
    ) -> dict[str, object]:
        details: dict[str, object] = {
            "access": f"{'write' if write else 'read'} of {size} byte{'s' if size != 1 else ''}",
            "address": address,
        }
        if info is not None:
            details["object"] = info.describe()
            if address.__class__ is int:
                details["offset"] = to_signed(address - info.base & MASK64, 64)
        return details

    def bad_access(self, address: int, size: int, write: bool) -> NoReturn:
        """The error of an access that no live object holds."""
        # Running below the start of an object lands at the far end of the number before it.
        number = (address + NEAR) >> 32 & 0xFFFFFFFF
        info = self.named(number)
        details = self.access_info(address, size, write, info)
        if info is not None and info.end:
            raise ProgramError(Fault("use-after-free", "memory error: use after free", details))
        if info is not None:
            raise ProgramError(Fault("out-of-bounds", "memory error: out of bound pointer", details))
        if number == 0:
            raise ProgramError(Fault("null-pointer", "memory error: null pointer dereference", details))
        if STACK_NUMBERS <= number < 2 * STACK_NUMBERS:
            site = self.numbers.local_site(number)
            if site is not None:
                details["object"] = f"{site.name}, {site.loc}" if site.loc else site.name
            raise ProgramError(
                Fault("use-after-scope", "memory error: use of a local that is out of scope", details)
            )
        raise ProgramError(Fault("wild-pointer", "memory error: wild pointer", details))

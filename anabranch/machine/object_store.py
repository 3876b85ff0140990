"""The objects of the running path: how they come to life, get their addresses, and die."""

from __future__ import annotations

from collections.abc import Callable

import immutables

from anabranch.expr import undefined, undefined_bytes
from anabranch.machine.ends import Loss
from anabranch.machine.extents import Extent
from anabranch.machine.objects import (
    MAX_OBJECT,
    NEAR,
    STACK_COUNTS,
    STACK_NUMBERS,
    AllocationSite,
    ObjectInfo,
    ObjectNumbers,
)
from anabranch.machine.pages import PAGE_BITS, PAGE_MASK, PAGE_SIZE, Page, PageStore, Value
from anabranch.machine.sparse import SPARSE_SIZE, one_run, same_runs

MAPS_KEPT = 10_000
Objects = immutables.Map[int, ObjectInfo]


def check_size(site: AllocationSite, size: int) -> None:
    """Locals have one number each, so that they are not larger than what one number stands for."""
    if size > (NEAR if site.kind == "stack" else MAX_OBJECT):
        raise Loss("object too large")


class ObjectStore(PageStore):
    """Objects and their pages."""

    def __init__(self, numbers: ObjectNumbers) -> None:
        super().__init__()
        self.counts: dict[int, int] = {}
        self._counts_shared = False
        self.constant_pages: set[int] = set()
        """Of objects that nobody may write, the same on all paths."""
        # By the identity of maps of objects: the map itself, and the one to which its last local was added.
        self._before: dict[int, tuple[Objects, Objects]] = {}
        self.allocated = 0
        """Objects that were made."""
        self.numbers = numbers
        self.blank: Callable[[int, int, AllocationSite], None] = self.leave_undefined
        """Makes what is in a fresh object: its address, size and site."""

    # ---- sharing -------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Make everything shareable: from now on the first write to a page copies it."""
        if self.W:
            self.share_pages()
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
        """Make what a waiting state has what the running path has."""
        self.restore_pages(pages, objects)
        self.fresh.clear()
        self.objects = objects
        self.counts = counts
        self._counts_shared = True

    # ---- finding -------------------------------------------------------------------------------------

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

    # ---- coming to life ------------------------------------------------------------------------------

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
            self.constant_pages.update(range(first, first + (size + PAGE_MASK >> PAGE_BITS)))
        return base

    def limit(self, base: int, extent: Extent) -> None:
        """Give an object an extent; its size is the capacity from now on."""
        info = self.find(base >> 32)
        assert info is not None and info.extent is None
        self.limit_pages(info)
        self.fresh[info.id] = info.limited(extent)

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
        info = self.find(number)
        if info is None:
            check_size(site, size)
            self.fresh[number] = ObjectInfo(number, size, site)
            self.allocated += 1
        elif size > PAGE_SIZE:
            self.drop_pages(info.keys)
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

    # ---- contents ------------------------------------------------------------------------------------

    def forget(self, info: ObjectInfo) -> None:
        """Drop what is in an object: `absent` makes it anew."""
        self.drop_object(info)

    def leave_undefined(self, base: int, size: int, site: AllocationSite) -> None:
        key = base >> PAGE_BITS
        if size <= PAGE_SIZE:
            self.S[key] = self.W[key] = undefined_bytes(key, size)[:size]
            return
        if size > SPARSE_SIZE:
            self.make_sparse(base >> 32, undefined(8))
            return
        end, rest = key + (size >> PAGE_BITS), size & PAGE_MASK
        self.pages = self.pages.update({page: undefined_bytes(page, PAGE_SIZE) for page in range(key, end)})
        if rest:
            self.S[end] = self.W[end] = undefined_bytes(end, rest)[:rest]

    def make_sparse(self, number: int, byte: Value) -> None:
        """Let an object that has no pages hold one byte over and over."""
        info, blank = self.find(number), one_run(byte)
        assert info is not None
        if not same_runs(info.blank, blank):
            self.fresh[number] = info.with_blank(blank)

    # ---- dying ---------------------------------------------------------------------------------------

    def release(self, info: ObjectInfo, how: str) -> None:
        """End the life of an object; later accesses find out how."""
        self.fresh[info.id] = info.dead(how)
        self.drop_object(info)

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
            if info.size > PAGE_SIZE or info.extent is not None:
                self.drop_object(info)
                continue
            page = base >> PAGE_BITS
            S.pop(page, None)
            W.pop(page, None)
            if page in self.pages:
                self.pages = self.pages.delete(page)

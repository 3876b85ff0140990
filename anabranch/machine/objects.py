"""Memory objects: what an address belongs to, and how objects get their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch.analysis.abstract_objects import ObjectKey
from anabranch.expr import is_undefined, undefined_bytes
from anabranch.machine.sparse import PAGE_BITS, PAGE_SIZE, Page, Runs, byte_at, uniform_page

if TYPE_CHECKING:
    from anabranch.machine.extents import Extent

OBJECT_SHIFT = 32
OFFSET_MASK = (1 << OBJECT_SHIFT) - 1
PAGE_NUMBER_BITS = OBJECT_SHIFT - PAGE_BITS
"""From the number of a page to that of its object."""
NUMBER_MASK = (1 << 32) - 1
LIMITED = 1 << PAGE_NUMBER_BITS + 32
"""In the keys of the pages of objects with an extent: no address leads to them, so that no fast load or store
finds a byte there that may be outside."""
NEAR = 1 << 31
"""An address that is less than this below an object, or behind it, is taken for one that ran out of it."""
MAX_OBJECT = (1 << OBJECT_SHIFT) - (1 << 12)
"""Bytes of the largest object: the address behind its end is one of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class AllocationSite:
    """A location of the program that makes objects: an alloca, a call of malloc, a model."""

    number: int
    kind: str  # "stack", "heap", "global", "constant", "function", "varargs", "input"
    name: str
    type: Any = None
    loc: Any = None
    origin: ObjectKey | None = None
    """What static analysis calls its objects; None if they come from outside the program."""
    first: dict[int, Any] | None = None
    """Of an object that is filled on its first access: its pages then, once some path has filled it."""


class ObjectInfo:
    """One object of one path; immutable, replaced when the object dies."""

    __slots__ = ("blank", "end", "extent", "id", "site", "size")

    def __init__(
        self,
        number: int,
        size: int,
        site: AllocationSite,
        end: str = "",
        extent: Extent | None = None,
        blank: Runs | None = None,
    ) -> None:
        self.id = number
        self.size = size  # with an extent: the capacity, which is the most that the extent can be
        self.site = site
        self.end = end  # "" while alive, else how it died
        self.extent = extent  # how many of the bytes may be accessed, if that depends on the input
        self.blank = blank  # of a sparse object: what its pages hold that are not there; None for others

    @property
    def base(self) -> int:
        return self.id << OBJECT_SHIFT

    @property
    def keys(self) -> range:
        """The keys of its pages."""
        first = self.id << PAGE_NUMBER_BITS
        if self.extent is not None:
            first |= LIMITED
        return range(first, first + max(1, self.size + PAGE_SIZE - 1 >> PAGE_BITS))

    @property
    def readonly(self) -> bool:
        return self.site.kind in ("constant", "function")

    def dead(self, how: str) -> ObjectInfo:
        return ObjectInfo(self.id, self.size, self.site, how)

    def limited(self, extent: Extent, size: int | None = None) -> ObjectInfo:
        """The object with an extent; its size is the capacity from now on."""
        return ObjectInfo(self.id, self.size if size is None else size, self.site, self.end, extent)

    def with_blank(self, blank: Runs) -> ObjectInfo:
        """The object after its absent pages have changed."""
        return ObjectInfo(self.id, self.size, self.site, self.end, self.extent, blank)

    def blank_page(self, key: int) -> Page | None:
        """What a page of a sparse object holds that is not there; None behind the end, or if it is not
        sparse."""
        position = key & (1 << PAGE_NUMBER_BITS) - 1
        size = min(PAGE_SIZE, self.size - (position << PAGE_BITS))
        if self.blank is None or size <= 0:
            return None
        byte = byte_at(self.blank, position)
        return undefined_bytes(key, size)[:size] if is_undefined(byte) else uniform_page(byte, size)

    def describe(self) -> str:
        kind = {"constant": "constant global"}.get(self.site.kind, self.site.kind)
        where = f" allocated at {self.site.loc}" if self.site.loc and kind in ("heap", "stack") else ""
        name = f" '{self.site.name}'" if self.site.name else ""
        end = f", {self.end}" if self.end else ""
        most = "at most " if self.extent is not None else ""
        return f"{kind} object{name} of {most}{self.size} bytes{where}{end}"


STACK_NUMBERS = 1 << 30  # object numbers from here on belong to locals
STACK_COUNTS = 1 << 15


class ObjectNumbers:
    """Numbers objects by (site, how often the path has allocated there).

    Two paths that did the same things agree on the numbers: so that states can be compared and
    joined. An object that is larger than `NEAR` has a second number, the next one, which nobody else gets:
    an address is attributed to the number nearest to it. Numbers of locals are computed (they come and go by
    the million, so nothing is kept of them and they repeat after 32,768 calls); all others are interned and
    never used twice.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int, bool], int] = {}
        self._last = 0
        self._sites = 0
        self._locals: dict[int, tuple[AllocationSite, str, int]] = {}

    def add_local(self, site: AllocationSite, function: str, index: int) -> None:
        """A site of locals belongs to an alloca: its function and its index there."""
        self._locals[site.number] = (site, function, index)

    def owner(self, number: int) -> tuple[str, int] | None:
        """The function and the alloca that an object was made by."""
        found = self._locals.get((number - STACK_NUMBERS) >> 15)
        return found[1:] if found is not None else None

    def local_site(self, number: int) -> AllocationSite | None:
        """The site of a local, alive or not."""
        found = self._locals.get((number - STACK_NUMBERS) >> 15)
        return found[0] if found is not None else None

    def new_site(
        self, kind: str, name: str, type: Any = None, loc: Any = None, origin: ObjectKey | None = None
    ) -> AllocationSite:
        self._sites += 1
        return AllocationSite(self._sites, kind, name, type, loc, origin)

    def new_lazy_site(self, kind: str, name: str) -> AllocationSite:
        """A site of one object that is filled on its first access."""
        self._sites += 1
        return AllocationSite(self._sites, kind, name, first={})

    def number(self, site: AllocationSite, count: int, size: int = 0) -> int:
        if site.kind == "stack" and site.number < 1 << 15:
            return STACK_NUMBERS + (site.number << 15) + count % STACK_COUNTS
        numbers, large = self._numbers, size > NEAR
        key = (site.number, count, large)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = self._last + 1
            self._last = number + large
        return number

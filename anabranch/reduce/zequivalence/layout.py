"""Which objects of a path may change, and where their bytes are: the same for all that share a map of them.

Objects that nobody may write always stay, and are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_not
from typing import Any

from anabranch.machine.memory import PAGE_BITS, PAGE_SIZE
from anabranch.machine.objects import OBJECT_SHIFT, ObjectInfo

NUMBER_BITS = OBJECT_SHIFT - PAGE_BITS  # of an offset, in pages
OBJECTS_KEPT = 100_000  # over all layouts
LARGE = 64  # pages of an object whose pages are not listed: most of them may not be there

Objects = Mapping[int, ObjectInfo]


class Layout:
    """One map of objects, taken apart."""

    __slots__ = ("everything", "infos", "keys", "large", "lazy", "movable", "objects", "sparse")

    def __init__(self, everything: Objects) -> None:
        self.everything = everything  # held, so that its identity stays its own
        self.infos = tuple(everything.values())
        self.objects: dict[int, ObjectInfo] = {n: o for n, o in everything.items() if not o.readonly}
        self.movable = tuple(self.objects.values())
        keys: list[int] = []
        large: set[int] = set()
        for number, info in self.objects.items():
            first, pages = number << NUMBER_BITS, max(1, (info.size + PAGE_SIZE - 1) >> PAGE_BITS)
            if pages > LARGE:
                large.add(number)
            elif not info.end:
                keys += range(first, first + pages)
        self.keys = tuple(keys)
        self.large = large
        self.sparse = {n for n, o in self.objects.items() if o.blank is not None}
        # First page -> object that is filled on its first access.
        self.lazy = {n << NUMBER_BITS: o for n, o in self.objects.items() if o.site.first is not None}

    def is_part_of(self, others: Objects) -> bool:
        """Are all of these objects there too, and what they are here?"""
        return others is self.everything or not any(map(is_not, map(others.get, self.everything), self.infos))

    def same_as(self, objects: Objects) -> bool:
        """Are there the very same objects, and no others?"""
        if objects is self.everything:
            return True
        return len(objects) == len(self.everything) and not any(
            map(is_not, map(objects.get, self.objects), self.movable)
        )

    def sparse_pages(self, pages: Mapping[int, Any]) -> list[int]:
        """Those of the sparse objects that are there."""
        return [key for key in pages if key >> NUMBER_BITS in self.sparse] if self.sparse else []

    def pages(self, pages: Mapping[int, Any]) -> dict[int, Any]:
        """The pages of these objects among others."""
        keys = self.keys
        if self.large:
            keys += tuple([key for key in pages if key >> NUMBER_BITS in self.large])
        found = dict(zip(keys, map(pages.get, keys), strict=True))
        if None in found.values():
            return {key: page for key, page in found.items() if page is not None}
        return found


class Layouts:
    """Those of a run."""

    def __init__(self) -> None:
        self._known: dict[int, Layout] = {}
        self._objects = 0

    def of(self, objects: Objects) -> Layout:
        known = self._known.get(id(objects))
        if known is None:
            self._objects += len(objects)
            if self._objects > OBJECTS_KEPT:
                self._known.clear()
                self._objects = len(objects)
            known = self._known[id(objects)] = Layout(objects)
        return known

    def left(self, before: Objects, now: Objects) -> Layout:
        """What may change of the objects that were there before and are there now, as they were."""
        layout = self.of(now)
        if layout.is_part_of(before):
            return layout
        return Layout({n: o for n, o in before.items() if n in now})

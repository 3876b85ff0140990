"""Which pages have changed on some path to a return point: they are outputs of the states of all paths.

A path that left a page alone shows what was there before, as an output like that of a path that wrote to it.
So the variables in such a page are not observable by being there, and a status that was read anew is the same
to the caller as the one that was there before.
"""

from __future__ import annotations

from itertools import compress, count
from operator import is_not
from typing import Any

from anabranch.machine import State
from anabranch.reduce.zequivalence.contents import Content, Contents
from anabranch.reduce.zequivalence.context import NUMBER_BITS, CallContext, pages_of
from anabranch.solver import Slice


class Changes:
    """The changed pages at one return point, and the variables that are observable there."""

    __slots__ = ("_contents", "_context", "_made", "observable", "order", "pages", "slices")

    def __init__(self, context: CallContext, contents: Contents) -> None:
        self._context = context
        self._contents = contents
        self._made: dict[int, Any] = {}  # pages of objects that some path has filled, as they were made
        self.pages: list[int] = []  # the keys of those that have changed
        self._observe()

    def _observe(self) -> None:
        """The observable variables, in order, and the slices that they had when the paths forked."""
        context, changed = self._context, set(self.pages)
        untouched = [c for key, c in zip(context.keys, context.contents, strict=True) if key not in changed]
        untouched += [self._contents.of(page) for key, page in self._made.items() if key not in changed]
        self.observable = context.fixed.union(*[content.variables for content in untouched])
        self.order = tuple(sorted(self.observable))
        self.slices: tuple[Slice | None, ...] = tuple(map(context.base.slices.get, self.order))

    def add(self, state: State) -> bool:
        """Take into account what has changed in a state. Was that something new?"""
        context, contents, pages = self._context, self._contents, state.pages
        there = list(map(pages.get, context.keys))
        changed = [
            context.keys[at]
            for at in compress(count(), map(is_not, there, context.before))
            if contents.of(there[at]) is not context.contents[at]
        ]
        known = len(self._made)
        if context.unfilled:
            changed += self._filled(pages)
        changed += self._written(pages)
        for info in context.objects_since(state.objects)[1]:  # it may have become larger
            if info.blank is None:
                changed += [key for key in pages_of(info) if key in pages and key not in context.pages]
        new = set(changed).difference(self.pages)
        if new or len(self._made) > known:
            self.pages = sorted(new.union(self.pages))
            self._observe()
        return bool(new)

    def _filled(self, pages: Any) -> list[int]:
        """Objects that are filled on their first access: to paths that have not, they hold what they will be
        filled with. Pages that hold something else, or of which nobody knows what that is."""
        changed: list[int] = []
        for info in self._context.unfilled:
            keys = pages_of(info)
            if keys[0] in pages:
                made = info.site.first or {}
                self._made.update({key: made[key] for key in keys if key in made})
                of = self._contents.of
                changed += [key for key in keys if of(pages.get(key)) is not of(made.get(key))]
        return changed

    def _written(self, pages: Any) -> list[int]:
        """Pages of sparse objects that were not there when the paths forked: to paths that have not written to
        them, they hold what the object says. Those that hold something else."""
        changed: list[int] = []
        for key in self._context.layout.sparse_pages(pages):
            if key not in self._context.pages:
                blank = self._made.get(key)
                if blank is None:
                    info = self._context.layout.sparse[key >> NUMBER_BITS]
                    blank = self._made[key] = info.blank_page(key)
                if self._contents.of(pages[key]) is not self._contents.of(blank):
                    changed.append(key)
        return changed

    def content(self, state: State, key: int) -> Content:
        """What a page holds in a state."""
        page = state.pages.get(key)
        if page is None:
            info = state.objects.get(key >> NUMBER_BITS)
            sparse = info is not None and info.blank is not None
            page = info.blank_page(key) if info is not None and sparse else self._made.get(key)
        return self._contents.of(page)

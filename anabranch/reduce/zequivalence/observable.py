"""Which variables whoever goes on behind a call can still tell apart (seed 000, sections 3.2 and 4.4).

A variable is observable if it occurs in anything that the states behind the call share and may still read:
live registers of the frames that go on (others are in no continuation), memory that is as it was before the
paths parted, what models keep. All others are unobservable, wherever they were made: what they do to the
former is in the state constraints. The paper's own boundary is that of the function, which also counts what
was passed as an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from anabranch.machine import State
from anabranch.machine.memory import PAGE_BITS, PAGE_SIZE
from anabranch.machine.objects import ObjectInfo
from anabranch.reduce.zequivalence.calls import Base, Call
from anabranch.reduce.zequivalence.ground import Grounds
from anabranch.reduce.zequivalence.layout import NUMBER_BITS, Layouts
from anabranch.reduce.zequivalence.pieces import Pieces
from anabranch.reduce.zequivalence.variables import (
    NOTHING,
    NoteVariables,
    PageVariables,
    variables_of,
)

SHARED_KEPT = 2_000
Objects = dict[int, ObjectInfo]


class Shared:
    """What is left of a call's base at places inside it, and its variables; never written to."""

    __slots__ = (
        "_base",
        "_gone",
        "_objects",
        "_without",
        "before",
        "ground",
        "layout",
        "note_items",
        "notes",
        "pages",
        "unfilled",
    )

    def __init__(
        self, call: Call, state: State, notes: NoteVariables, layouts: Layouts, grounds: Grounds
    ) -> None:
        base = self._base = call.base
        self._objects = state.objects
        self._gone: list[int] | None = None  # objects of the base that are not there, if somebody asked
        self._without: list[int] = []  # pages that are not, though their objects are
        self.layout = layouts.left(base.objects, state.objects)
        self.pages = self.layout.pages(base.pages)
        if not all(map(state.pages.__contains__, self.pages)):
            self._without = [key for key in self.pages if key not in state.pages]
            self.pages = {key: page for key, page in self.pages.items() if key in state.pages}
        self.unfilled: Objects = {  # first page -> object that is filled on its first access
            key: info for key, info in self.layout.lazy.items() if key not in base.pages
        }
        self.notes, kept = notes.of(base.notes)
        fixed = NOTHING.union(frame_variables(call), base.slices if kept is None else kept)
        self.ground = grounds.of(self.pages, fixed)
        # The same once more, as states are looked at:
        self.before = tuple(self.pages.values())
        self.note_items = list(self.notes.items())

    def holds_for(self, state: State) -> bool:
        """Is all of it still there, and nothing else of the base?"""
        there = state.pages.__contains__
        if not all(map(there, self.pages)) or any(map(there, self._without)):
            return False
        if state.objects is self._objects:
            return True
        left = self.layout.objects
        if self._gone is None:
            self._gone = [n for n in self._base.objects if n not in self.layout.everything]
        known = state.objects.__contains__
        return all(map(known, left)) and not any(map(known, self._gone))


def shared(call: Call, state: State, notes: NoteVariables, layouts: Layouts, grounds: Grounds) -> Shared:
    """What is left of a call's base in a state inside it: at most places the same."""
    known: Shared | None = call.shared
    if known is None or not known.holds_for(state):
        known = call.shared = Shared(call, state, notes, layouts, grounds)
    return known


class Common:
    """The part of a call's base that is still there at a place inside it, and what states there have changed.

    What was local to calls that have returned is gone by then, on all paths alike.
    """

    __slots__ = (
        "_objects",
        "_observable",
        "_pieces",
        "_seen",
        "all_notes",
        "by_page",
        "everything",
        "filled",
        "fixed",
        "grown",
        "keys",
        "layout",
        "notes",
        "pages",
        "total",
        "touched",
        "unfilled",
        "version",
    )

    def __init__(self, base: Base, shared: Shared, pieces: Pieces) -> None:
        self.layout = shared.layout
        self.pages = shared.pages
        self.unfilled = shared.unfilled
        ground = shared.ground
        self.by_page = ground.by_page
        self.notes = shared.notes
        self.fixed = ground.fixed
        self.total = ground.total
        self.everything = base.objects
        self.all_notes = base.notes
        self.keys = set(base.notes)
        self.filled: set[int] = set()  # pages of objects that some path has filled
        self.touched: dict[int, frozenset[int]] = {}  # offsets by page of what has changed on some path
        self.grown = False
        self.version = 0  # of what is touched: the same number at all places where that is the same
        self._pieces = pieces
        self._observable = ground.observable
        self._seen: set[tuple[int, int]] = set()  # pages and their numbers
        # Found for objects that many states share, which are held so that they keep their identity:
        self._objects: dict[int, tuple[Any, Objects, list[tuple[int, str, int]]]] = {}

    def objects_since(self, objects: Any) -> tuple[Objects, list[tuple[int, str, int]]]:
        """The objects that are new, and the numbers of those that have ended, with how."""
        known = self._objects.get(id(objects))
        if known is not None:
            return known[1], known[2]
        new: Objects = {}
        ended: list[tuple[int, str, int]] = []
        if not self.layout.same_as(objects):
            common, everything = self.layout.objects, self.everything
            for number, info in sorted(objects.items()):
                before = common.get(number)
                if before is info:
                    continue
                if before is not None:
                    if before.end != info.end or before.size != info.size or before.blank is not info.blank:
                        ended.append((number, info.end, info.size))
                elif not info.readonly or everything.get(number) is not info:
                    new[number] = info
            ended += [(number, "gone", 0) for number in common if number not in objects]
            ended.sort()
        if len(self._objects) >= SHARED_KEPT:
            self._objects.clear()
        self._objects[id(objects)] = (objects, new, ended)
        return new, ended

    def touch(self, key: int, page: Any, number: int) -> None:
        """Take into account what has changed in a page, whose content has this number."""
        if (key, number) in self._seen:
            return
        self._seen.add((key, number))
        before = self.pages[key]
        offsets = self._pieces.changes(before, page, number)
        touched = self.touched.get(key)
        if offsets and (touched is None or not touched.issuperset(offsets)):
            self.touched[key] = self._pieces.offsets((touched or NOTHING).union(offsets))
            self.grown = True
            self.version = self._pieces.new_version() if self.filled else self._pieces.version(self.touched)

    def fill(self, pages: Mapping[int, Any], variables: PageVariables) -> list[int]:
        """Objects that are filled on their first access, and pages of sparse objects: where one is, it was
        there before as it was made, to all others. Pages that nobody knows how they were made."""
        unknown: list[int] = []
        for first, info in list(self.unfilled.items()):
            if first not in pages:
                continue
            made = info.site.first or {}
            keys = range(first, first + max(1, (info.size + PAGE_SIZE - 1) >> PAGE_BITS))
            if not all(key in made for key in keys):
                unknown += [key for key in keys if key in pages]
                continue
            self.unfilled = {at: one for at, one in self.unfilled.items() if at != first}
            self._add({key: made[key] for key in keys}, variables)
        absent = [key for key in self.layout.sparse_pages(pages) if key not in self.pages]
        if absent:
            objects = self.layout.objects
            self._add({key: objects[key >> NUMBER_BITS].blank_page(key) for key in absent}, variables)
        return unknown

    def _add(self, made: Mapping[int, Any], variables: PageVariables) -> None:
        """Take pages into account that were not there before; as these they were there to all others."""
        self.pages = {**self.pages, **made}
        self.filled.update(made)
        self.by_page = self.by_page.copy()
        for page in made.values():
            self.by_page.update(variables.of(page))
        self.total = self.fixed.union(self.by_page)
        self._observable = {}
        self.grown = True
        self.version = self._pieces.new_version()

    def observable(self, changed: Mapping[int, Sequence[int]], pages: PageVariables) -> frozenset[int]:
        """The observable variables, where some bytes (offsets by page) are no longer what they were."""
        touched = [key for key in changed if pages.of(self.pages[key])] if self.by_page else ()
        if not touched:
            return self.total
        # Offsets of pieces are shared, and held with them; ranges are whole pages.
        names = tuple([(key, len(changed[key]), id(changed[key])) for key in touched])
        known = self._observable.get(names)
        if known is None:
            found = self._lost(touched, changed, pages)
            known = self._observable[names] = (found, [changed[key] for key in touched])
        return known[0]

    def _lost(
        self, touched: list[int], changed: Mapping[int, Sequence[int]], pages: PageVariables
    ) -> frozenset[int]:
        parts = [self._pieces.overwritten(self.pages[key], changed[key]) for key in touched]
        lost = set().union(*[gone for gone, _ in parts]) - self.fixed
        if not lost:
            return self.total
        gone = Counter(chain.from_iterable([pages.of(self.pages[key]) for key in touched]))
        lost.difference_update(*[left for _, left in parts])
        return self.total - {v for v in lost if gone[v] == self.by_page[v]}


def frame_variables(call: Call) -> frozenset[int]:
    """The variables in the live values of the frames around a call."""
    if call.frames is None:
        found: set[int] = set()
        continuation, outer = call.continuation, call.parent
        while continuation[1] is not None:
            if outer is not None and continuation is outer.continuation:
                if outer.frames is not None:
                    found |= outer.frames
                    break
                outer = outer.parent
            found |= variables_of(continuation[3:])
            continuation = continuation[0]
        call.frames = frozenset(found)
    return call.frames

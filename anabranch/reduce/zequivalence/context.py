"""The call context: what all paths of a call share at a return point inside it (Li et al., 3.1 and 4.4).

Paths in the same call have the same precondition, so states are compared by what has changed since then. The
context also tells which variables are observable: those that occur in anything that the states share and may
still read, which are live registers of the frames that go on (others are in no continuation), memory that is
as it was before the paths forked, and what models keep. All others are unobservable, wherever they were made:
what they do to the former is in the state constraints. The boundary of the paper is that of the function,
which also counts what was passed as an argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, count
from operator import is_not
from typing import Any, TypeAlias

from anabranch.machine import State
from anabranch.machine.extents import same_extent
from anabranch.machine.joining.note_variables import variables_in
from anabranch.machine.objects import NUMBER_MASK, PAGE_NUMBER_BITS, ObjectInfo
from anabranch.machine.sparse import same_runs
from anabranch.memo import Memo
from anabranch.reduce.zequivalence.calls import Call
from anabranch.reduce.zequivalence.contents import Content, Contents
from anabranch.reduce.zequivalence.parts import PartForms
from anabranch.reduce.zequivalence.variables import NoteVariables, counts, variables_of
from anabranch.solver import Slice

LAYOUTS_KEPT = 500
LARGE = 64  # pages of an object whose pages are not listed: most of them may not be there

Objects: TypeAlias = Mapping[int, ObjectInfo]


def pages_of(info: ObjectInfo) -> range:
    """The keys of an object's pages."""
    return info.keys


def number_of(key: int) -> int:
    """The number of the object that a page belongs to."""
    return key >> PAGE_NUMBER_BITS & NUMBER_MASK


class Layout:
    """The objects of a path that may change, and where their bytes are. Those that nobody may write stay."""

    __slots__ = ("everything", "infos", "keys", "large", "lazy", "movable", "objects", "sparse", "variables")

    def __init__(self, everything: Objects) -> None:
        self.everything = everything  # held, so that its identity stays its own
        self.infos = tuple(everything.values())
        self.objects = {n: info for n, info in everything.items() if not info.readonly}
        self.movable = tuple(self.objects.values())
        alive = [info for info in self.movable if not info.end]
        self.keys = tuple([key for info in alive if len(pages_of(info)) <= LARGE for key in pages_of(info)])
        self.large = {info.id for info in alive if len(pages_of(info)) > LARGE}
        self.sparse = {info.id: info for info in alive if info.blank is not None}
        self.lazy = [info for info in self.movable if info.site.first is not None]
        # Where an extent depends on the input, so does what may be accessed.
        self.variables = variables_in([info.extent for info in alive if info.extent is not None])

    def is_part_of(self, others: Objects) -> bool:
        """Are all of these objects there too, and what they are here?"""
        return others is self.everything or not any(map(is_not, map(others.get, self.everything), self.infos))

    def same_as(self, objects: Objects) -> bool:
        """Are there the very same objects, and no others?"""
        return objects is self.everything or (
            len(objects) == len(self.everything)
            and not any(map(is_not, map(objects.get, self.objects), self.movable))
        )

    def pages(self, pages: Mapping[int, Any]) -> dict[int, Any]:
        """The pages of these objects among others."""
        keys = self.keys
        if self.large:
            keys += tuple([key for key in pages if number_of(key) in self.large])
        found = dict(zip(keys, map(pages.get, keys), strict=True))
        if None in found.values():
            return {key: page for key, page in found.items() if page is not None}
        return found

    def sparse_pages(self, pages: Mapping[int, Any]) -> list[int]:
        """Those of the sparse objects that are there."""
        return [key for key in pages if number_of(key) in self.sparse] if self.sparse else []


class Tables:
    """What all return points of a run share."""

    def __init__(self, leaks: bool) -> None:
        self.leaks = leaks  # does it matter which heap objects there are, even if nobody reaches them?
        self.contents = Contents()
        self.notes = NoteVariables()
        self.forms = PartForms()
        # By the identity of a map of objects, which most states behind calls share: one layout serves ten
        # contexts on the drivers.
        self._layouts: Memo[int, Layout] = Memo(LAYOUTS_KEPT)

    def layout(self, before: Objects, now: Objects) -> Layout:
        """What may change of the objects that were there before and are there now, as they were."""
        layout = self._layouts.get(id(now)) or self._layouts.keep(id(now), Layout(now))
        if layout.is_part_of(before):
            return layout
        return Layout({n: info for n, info in before.items() if n in now})


def differs(a: ObjectInfo, b: ObjectInfo) -> bool:
    same = a.end == b.end and a.size == b.size and same_extent(a.extent, b.extent)
    return not same or not same_runs(a.blank, b.blank)


class CallContext:
    """What is left of a call's base at a return point inside it: locals of calls that have returned are gone
    by then, on all paths alike."""

    def __init__(self, scope: Call, state: State, tables: Tables) -> None:
        """`state`: one at the return point. The scope itself is not held: it holds its return points, and
        nobody collects cycles in a run."""
        base = self.base = scope.base
        self.outer = scope.continuation
        self.layout = tables.layout(base.objects, state.objects)
        self.pages = self.layout.pages(base.pages)
        self.keys = tuple(self.pages)
        self.before = tuple(self.pages.values())
        self.contents: tuple[Content, ...] = tuple(map(tables.contents.of, self.before))
        # Objects that are filled on their first access, and were not when the paths forked.
        self.unfilled = [info for info in self.layout.lazy if pages_of(info)[0] not in base.pages]
        self.first_unfilled = [pages_of(info)[0] for info in self.unfilled]
        self.notes = [(key, value) for key, value in base.notes.items() if counts(key)]
        kept = tables.notes.of(base.notes)
        self.fixed = frame_variables(scope).union(
            base.slices if kept is None else kept, self.layout.variables
        )
        self.variables = self.fixed.union(*[c.variables for c in self.contents if c.variables])
        self.order = tuple(sorted(self.variables))

    def objects_since(self, objects: Objects) -> tuple[dict[int, ObjectInfo], list[ObjectInfo], list[int]]:
        """The objects that are new, those that are not what they were, and the numbers of those that are
        gone."""
        if self.layout.same_as(objects):
            return {}, [], []
        before = self.layout.objects
        others = [info for number, info in sorted(objects.items()) if before.get(number) is not info]
        known = self.base.objects
        new = {
            info.id: info
            for info in others
            if info.id not in before and not (info.readonly and known.get(info.id) is info)
        }
        changed = [info for info in others if info.id in before and differs(info, before[info.id])]
        return new, changed, sorted([number for number in before if number not in objects])


class Changes:
    """The pages that have changed on some path to a return point: they are outputs of the states of all.

    A path that left a page alone shows what was there before, as an output like that of a path that wrote to
    it. So the variables in such a page are not observable by being there, and a status that was read anew is
    the same to the caller as the one that was there before.
    """

    __slots__ = ("_contents", "_made", "context", "observable", "order", "pages", "slices")

    def __init__(self, context: CallContext, contents: Contents) -> None:
        self.context = context
        self._contents = contents
        self._made: dict[int, Any] = {}  # pages of objects that some path has filled, as they were made
        self.pages: list[int] = []  # the keys of those that have changed
        self._observe()

    def _observe(self) -> None:
        """The observable variables, in order, and the slices that they had when the paths forked."""
        context, changed = self.context, set(self.pages)
        untouched = [c for key, c in zip(context.keys, context.contents, strict=True) if key not in changed]
        untouched += [self._contents.of(page) for key, page in self._made.items() if key not in changed]
        self.observable = context.fixed.union(*[content.variables for content in untouched])
        self.order = tuple(sorted(self.observable))
        self.slices: tuple[Slice | None, ...] = tuple(map(context.base.slices.get, self.order))

    def add(self, state: State) -> bool:
        """Take into account what has changed in a state. Was that something new?"""
        context, contents, pages = self.context, self._contents, state.pages
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
        for info in self.context.unfilled:
            keys = pages_of(info)
            if keys[0] in pages:
                made = info.site.first or {}
                self._made.update({key: made[key] for key in keys if key in made})
                of = self._contents.of
                changed += [key for key in keys if of(pages.get(key)) is not of(made.get(key))]
        return changed

    def _written(self, pages: Any) -> list[int]:
        """Pages of sparse objects that were not there when the paths forked: to paths that have not written
        to them, they hold what the object says. Those that hold something else."""
        changed: list[int] = []
        for key in self.context.layout.sparse_pages(pages):
            if key not in self.context.pages:
                blank = self._made.get(key)
                if blank is None:
                    info = self.context.layout.sparse[number_of(key)]
                    blank = self._made[key] = info.blank_page(key)
                if self._contents.of(pages[key]) is not self._contents.of(blank):
                    changed.append(key)
        return changed

    def content(self, state: State, key: int) -> Content:
        """What a page holds in a state."""
        page = state.pages.get(key)
        if page is None:
            info = state.objects.get(number_of(key))
            sparse = info is not None and info.blank is not None
            page = info.blank_page(key) if info is not None and sparse else self._made.get(key)
        return self._contents.of(page)


def frame_variables(call: Call) -> frozenset[int]:
    """The variables in the live values of the frames around a call."""
    if call.frame_variables is None:
        found: set[int] = set()
        continuation, outer = call.continuation, call.parent
        while continuation[1] is not None:
            if outer is not None and continuation is outer.continuation:
                if outer.frame_variables is not None:
                    found |= outer.frame_variables
                    break
                outer = outer.parent
            found |= variables_of(continuation[3:])
            continuation = continuation[0]
        call.frame_variables = frozenset(found)
    return call.frame_variables

"""Which variables whoever goes on behind a call can still tell apart (seed 000, sections 3.2 and 4.4).

A variable is observable if it occurs in anything that the states behind the call share and may still read:
live registers of the frames that go on (others are in no continuation), memory that is as it was before the
paths parted, what models keep. All others are unobservable, wherever they were made: what they do to the
former is in the state constraints. The paper's own boundary is that of the function, which also counts what
was passed as an argument.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from anabranch.machine import State
from anabranch.reduce.zequivalence.calls import Call
from anabranch.reduce.zequivalence.variables import NoteVariables, PageVariables, variables_of


class Common:
    """The part of a call's base that is still there when the call has returned, and its variables.

    What was local to the call is gone by then, on all paths alike.
    """

    __slots__ = ("by_page", "fixed", "notes", "objects", "pages", "total")

    def __init__(self, call: Call, state: State, pages: PageVariables, notes: NoteVariables) -> None:
        base = call.base
        there = state.pages
        self.pages: dict[int, Any] = {key: page for key, page in base.pages.items() if key in there}
        known = state.objects
        self.objects: dict[int, Any] = {
            number: info for number, info in base.objects.items() if number in known
        }
        self.by_page: Counter[int] = Counter()  # variable -> pages that hold it
        for page in self.pages.values():
            if page.__class__ is list:
                self.by_page.update(pages.of(page))
        self.notes = base.notes
        kept = notes.of(base.notes)
        self.fixed = frozenset(frame_variables(call)).union(base.slices if kept is None else kept)
        self.total = self.fixed.union(self.by_page)

    def observable(self, changed: dict[int, list[int]], pages: PageVariables) -> frozenset[int]:
        """The observable variables, where some bytes (offsets by page) are no longer what they were."""
        gone: Counter[int] = Counter()
        left: set[int] = set()
        for key, offsets in changed.items():
            page = self.pages[key]
            held = pages.of(page)
            if held:
                gone.update(held)
                overwritten = set(offsets)
                left |= variables_of(x for at, x in enumerate(page) if at not in overwritten)
        if not gone:
            return self.total
        by_page = self.by_page
        dead = {v for v, count in gone.items() if count == by_page[v] and v not in left}
        return self.total - (dead - self.fixed)


def frame_variables(call: Call) -> set[int]:
    """The variables in the live values of the frames that go on behind a call, and in its arguments where
    these count."""
    found = set(call.arguments or ())
    continuation = call.continuation
    while continuation[1] is not None:
        found |= variables_of(continuation[3:])
        continuation = continuation[0]
    return found

"""The tree of stretches: what each path did between two forks, and what was relevant where it began.

What is relevant at the end of a stretch is known when all paths behind it have ended (3.2.2, step 1). Then
its tape is gone over backwards; its parent follows when the sibling is done, too.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from anabranch.machine.tape import Forced, Interpreted, Lost, Stack, Tape, Touched
from anabranch.machine.translator.sites import ReturnSite, Target
from anabranch.reduce.redundancy.backward import cross_edge, take_branch
from anabranch.reduce.redundancy.items import Mark, block_of, last_code, whole_calls
from anabranch.reduce.redundancy.ledger import FORK
from anabranch.reduce.redundancy.live import Live
from anabranch.reduce.redundancy.matching import Snapshot
from anabranch.reduce.redundancy.points import Point
from anabranch.reduce.redundancy.slicing import Slicer

RUNNING, FORKED, RETURNED, FAILED, DROPPED, BARREN, LOST = range(7)
"""How a stretch ends: not yet; at a fork; where the program does; in an error; at a snapshot that it matches;
where no goal can be reached any more; where the engine gave it up."""


class Stretch:
    """A path between two forks."""

    __slots__ = (
        "before",
        "calls",
        "children",
        "end",
        "entry",
        "live",
        "matched",
        "open",
        "parent",
        "point",
        "stack",
        "stopped",
        "tape",
    )

    def __init__(self, parent: Stretch | None, before: Any, entry: Any) -> None:
        self.parent = parent
        self.before = before
        """The last item in front of it that stands for an instruction."""
        self.entry = entry
        """Where it begins, if that is a side of a branch: then its tape has the edge, and the branch not."""
        self.tape: list[Any] = []
        self.calls: dict[int, int] = {}
        """Once it is closed: of calls on its tape, the last item -> the first one."""
        self.point: Point | None = None
        """The state that it began with, if what is relevant there is known when its tape is gone over."""
        self.children: tuple[Stretch, ...] = ()
        self.open = 0
        """Children that have paths which have not ended."""
        self.end = RUNNING
        self.stack: Stack | None = None
        """Where it failed or was lost."""
        self.matched: Snapshot | None = None
        self.stopped: Any = None
        """Where it was dropped."""
        self.live: Live | None = None
        """What is relevant where it begins, once its paths have ended."""

    @property
    def is_side(self) -> bool:
        """Does it begin behind a branch, with the edge that it takes?"""
        return isinstance(self.entry, Target) and self.entry.key[0] == "edge"

    def last_code(self) -> Any:
        return last_code(self.tape, len(self.tape) - 1, self.before)


def merged(kept: Stretch | None) -> Stretch | None:
    """What a state goes on with that others were merged into. Their paths end nowhere: what was relevant on
    them before is never known, and what the new one does concerns none of them alone."""
    return None if kept is None else Stretch(None, kept.last_code(), None)


def pending_notes(items: list[Any]) -> list[Any]:
    """Take the items about an instruction in the middle of a segment off the end of a tape: they belong to
    whoever finishes the segment."""
    last = len(items)
    while last and items[last - 1].__class__ in (Touched, Forced, Lost):
        last -= 1
    if last and isinstance(items[last - 1], Interpreted):
        return []
    taken = items[last:]
    del items[last:]
    while items and isinstance(items[-1], Mark) and items[-1].begins_segment:
        items.pop()  # in front of the segment that is not finished: nobody goes over it here
    return taken


class Stretches:
    """Closes stretches, and remembers them to be gone over again."""

    def __init__(
        self, tape: Tape, slicer: Slicer, empty: Callable[[], Live], publish: Callable[[Point, Live], None]
    ) -> None:
        self._tape = tape
        self._segments = tape.segments
        self._slicer = slicer
        self._empty = empty
        self._publish = publish
        self.closed: list[Stretch] = []
        """Children before their parents."""
        self.items = 0
        """Of all tapes that are closed, those that were gone over."""
        self.seconds = 0.0
        """That it took to go over tapes backwards."""

    def close(self, stretch: Stretch | None) -> None:
        """All paths of a stretch have ended; so may those of the stretches above it."""
        while stretch is not None:
            stretch.tape = self._tape.grouped(stretch.tape)
            stretch.calls = whole_calls(stretch.tape, self._segments)
            before = self._slicer.items
            self.slice(stretch)
            self.closed.append(stretch)
            self.items += self._slicer.items - before
            stretch = stretch.parent
            if stretch is not None:
                stretch.open -= 1
                if stretch.open:
                    return
                stretch.end = FORKED

    def slice_again(self) -> None:
        """What is relevant may have become less."""
        for stretch in self.closed:
            self.slice(stretch)

    def slice(self, stretch: Stretch) -> None:
        """Find what is relevant where a stretch begins, and at the marks on its tape."""
        live = self._behind(stretch)
        at_edge = stretch.is_side
        items = stretch.tape
        live.work += FORK + len(items)
        began = perf_counter()
        if not live.top:
            if stretch.stopped is not None:
                self._from_stop(stretch, live, at_edge)
            self._slicer.walk(items, live, stretch.before, at_edge, stretch.calls)
        self.seconds += perf_counter() - began
        if at_edge and not live.top and (items or stretch.end != FORKED):
            self._take_side(stretch, live)  # else the forks were in the first segment, and have its edge
        stretch.live = live

    def _behind(self, stretch: Stretch) -> Live:
        """What is relevant where a stretch ends."""
        if stretch.end == FORKED:
            first, *others = stretch.children
            assert first.live is not None
            live = first.live.copy()
            for other in others:
                assert other.live is not None
                live.join(other.live)
            return live
        if stretch.end == DROPPED:
            assert stretch.matched is not None
            return stretch.matched.live.copy()
        live = self._empty()
        if stretch.end == LOST:
            live.top = stretch.stack is None or self._slicer.ahead(stretch.stack)
        elif stretch.end == FAILED:
            live.halts = stretch.stack is None or self._slicer.ahead(stretch.stack)
        elif stretch.end == BARREN:
            assert stretch.stack is not None
            if self._slicer.ahead(stretch.stack):
                live.frame.needed |= 1 << stretch.stack[0][1]
                live.frame.matters = True
        elif stretch.end == RETURNED:
            self._slicer.program_ends(live)
        return live

    def _from_stop(self, stretch: Stretch, live: Live, at_edge: bool) -> None:
        """From where a state was dropped to the end of its tape."""
        site = stretch.stopped
        if isinstance(site, ReturnSite):
            self._slicer.behind_call(live, site.unit, site.block, site.position)
        if not isinstance(site, Target):
            return
        kind = site.key[0]
        if kind == "edge":
            if stretch.tape or not at_edge:
                facts = self._slicer.facts(site.unit)
                take_branch(facts, live.frame, live, site.key[1], False)
        elif kind == "block" and site.key[1]:
            if not stretch.tape and at_edge:
                return  # at the first block of its side: the edge comes at the end
            facts, block = self._slicer.facts(site.unit), site.key[1]
            source = block_of(stretch.tape, len(stretch.tape) - 1, stretch.before, self._segments)
            by_edge = cross_edge(facts, live.frame, live, source, block)
            take_branch(facts, live.frame, live, source, by_edge)

    def _take_side(self, stretch: Stretch, live: Live) -> None:
        """The edge and the branch that a stretch begins with."""
        entry = stretch.entry
        _, block, target = entry.key
        facts = self._slicer.facts(entry.unit)
        by_edge = False
        at_branch = not stretch.tape and stretch.stopped is entry
        if not at_branch:
            by_edge = cross_edge(facts, live.frame, live, block, target)
        if stretch.point is not None:
            self._publish(stretch.point, live)
        take_branch(facts, live.frame, live, block, by_edge)

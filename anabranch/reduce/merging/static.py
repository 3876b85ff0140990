"""Static state merging: topological order, joins where paths that parted meet again (seed 001, section 5.4).

A fork puts the place where its sides meet again (the immediate post-dominator of its branch, which for the
exit branch of a loop is the loop's exit) on the list of stops of both paths; if they may go round a loop
before, its header too. A path waits when it comes to a stop on its list, until no state is left that could
still come there: that is what the order is for. Nothing else is looked at, so that a place where nobody can
meet costs nothing.
"""

from __future__ import annotations

from typing import Any

from anabranch.machine import Machine, State
from anabranch.machine.path import Path
from anabranch.machine.state import Cons, Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.places import Places, Stop
from anabranch.reduce.merging.waiting import Waiting


class StaticMerging:
    """Arms join points when paths fork, and stops paths there."""

    def __init__(self, machine: Machine, places: Places, waiting: Waiting, ledger: Ledger) -> None:
        self.ledger = ledger
        self.machine = machine
        self.path = machine.path
        self.places = places
        self.waiting = waiting
        self._paused: set[int] | None = set()
        machine.decider.on_fork = self.forked
        machine.stops.arrival = self.arrived

    def begin(self) -> None:
        """From now on paths stop."""
        for number in self._paused or ():
            self.machine.stops.install(number)
        self._paused = None

    def pause(self) -> None:
        """Paths that are not to be merged run for now: they stop nowhere."""
        self._paused = set(self.machine.stops.installed)
        self.machine.stops.clear()

    @property
    def active(self) -> bool:
        return self._paused is None

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        """The running path is about to fork: both sides will stop where they meet again."""
        if self._paused is not None:
            return
        path = self.path
        for stop in self.places.meeting_points(site.unit, site.block, continuation):
            if not armed(path.stops, stop):
                path.stops = (stop, path.stops)
                self.machine.stops.install(stop[0])

    def arrived(self, number: int, target: Target, continuation: Continuation, values: Any) -> bool:
        """The running path came to a stop: is it one of its own?"""
        path, depth = self.path, continuation[2]
        stops = path.stops
        while stops is not None and stops[0][1] > depth:
            stops = stops[1]  # of frames that have returned
        found = stops
        while found is not None and found[0][1] == depth:
            if found[0][0] == number:
                self._stop(number, found)
                return self._may_meet() and self.ledger.open(number)
            found = found[1]
        path.stops = stops
        return False

    def _stop(self, number: int, stops: tuple[Stop, Cons]) -> None:
        path = self.path
        (number, depth, before), rest = stops
        if before >= 0:
            path.stops = ((number, depth, progress(path, before)), rest)
        else:
            path.stops = rest
        path.recent = (number,) if before >= 0 else ()

    def _may_meet(self) -> bool:
        """Is there anybody to wait for?"""
        return len(self.waiting) > 0 or bool(self.machine.decider.siblings)


def in_rounds(state: State) -> bool:
    """Did it stop at the header of a loop to meet paths that took more or fewer rounds?"""
    return state.recent == (state.place,)


def progress(path: Path, before: int) -> int:
    """How far into its input the path has looked. A join may forget decisions: what was seen stays seen."""
    for index in reversed(path.slices):
        if index <= before or path.slices[index].constraints:
            return max(index, before)
    return before


def armed(stops: Cons, stop: Stop) -> bool:
    """Does a path stop there already?"""
    depth = stop[1]
    while stops is not None and stops[0][1] >= depth:
        if stops[0][0] == stop[0] and stops[0][1] == depth and (stops[0][2] < 0) == (stop[2] < 0):
            return True
        stops = stops[1]
    return False

"""Static state merging: topological order, joins where paths that parted meet again (seed 001, section 5.4).

A fork puts the place where its sides meet again (the immediate post-dominator of its branch, which for the
exit branch of a loop is the loop's exit) on the list of stops of both paths. A path waits when it comes to a
stop on its list, until no state is left that could still come there: that is what the order is for. Nothing
else is looked at, so that a place where nobody can meet costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anabranch.machine import Machine, State
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.waiting import Waiting


class StaticMerging:
    """Arms join points when paths fork, and stops paths there."""

    def __init__(self, machine: Machine, places: Places, waiting: Waiting, ledger: Ledger) -> None:
        self.ledger = ledger
        self.machine = machine
        self.path = machine.path
        self.places = places
        self.waiting = waiting
        self._begun = False
        machine.decider.on_fork = self.forked
        machine.stops.arrival = self.arrived

    def begin(self, states: Iterable[State] = ()) -> None:
        """From now on paths stop. States that wait already begin anew, each for itself: what they parted
        from has been explored to its end, so that among each other they would not make a whole."""
        self._begun = True
        for number, state in enumerate(states):
            state.stops = None
            state.recent = (number,)

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        """The running path is about to fork: both sides will stop where they meet again."""
        if not self._begun:
            return
        stop = self.places.join_point(site.unit, site.block, continuation)
        if stop is None:
            return
        path = self.path
        if path.stops is None or path.stops[0] != stop:
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
                path.stops = found[1]
                return self._may_meet() and self.ledger.open(number)
            found = found[1]
        path.stops = stops
        return False

    def _may_meet(self) -> bool:
        """Is there anybody to wait for?"""
        return len(self.waiting) > 0 or bool(self.machine.decider.siblings)

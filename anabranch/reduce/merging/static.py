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
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.arming import arm, reached
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
        machine.decider.on_fork = self.forked
        machine.stops.arrival = self.arrived

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        if not self.machine.stops.suspended:
            arm(self.path, self.machine.stops, self.places, site, continuation)

    def arrived(self, number: int, target: Target, continuation: Continuation, values: Any) -> bool:
        """The running path came to a stop: is it one of its own?"""
        stop = reached(self.path, number, continuation[2])
        if stop is None:
            return False
        self.path.recent = (number,) if stop[2] >= 0 else ()
        return self._may_meet() and self.ledger.open(number)

    def _may_meet(self) -> bool:
        """Is there anybody to wait for?"""
        return len(self.waiting) > 0 or bool(self.machine.decider.siblings)


def in_rounds(state: State) -> bool:
    """Did it stop at the header of a loop to meet paths that took more or fewer rounds?"""
    return state.recent == (state.place,)

"""The places where a path is to wait for those that parted from it: set at a fork, looked at on arrival."""

from __future__ import annotations

from anabranch.machine.path import Path
from anabranch.machine.state import Cons, Continuation
from anabranch.machine.stops import Stops
from anabranch.machine.translator.sites import BranchSite, PointSite
from anabranch.reduce.merging.places import Places, Stop


def arm(
    path: Path, stops: Stops, places: Places, site: BranchSite | PointSite, continuation: Continuation
) -> None:
    """The running path is about to fork: both sides will stop where they meet again."""
    for stop in places.meeting_points(site.unit, site.block, continuation):
        if not armed(path.stops, stop):
            path.stops = (stop, path.stops)
            stops.install(stop[0])


def armed(stops: Cons, stop: Stop) -> bool:
    """Does a path stop there already?"""
    depth = stop[1]
    while stops is not None and stops[0][1] >= depth:
        if stops[0][0] == stop[0] and stops[0][1] == depth and (stops[0][2] < 0) == (stop[2] < 0):
            return True
        stops = stops[1]
    return False


def reached(path: Path, number: int, depth: int) -> Stop | None:
    """The running path came to a stop: if it is one of its own, it is crossed off, and those before it."""
    stops = path.stops
    while stops is not None and stops[0][1] > depth:
        stops = stops[1]  # of frames that have returned
    found = stops
    while found is not None and found[0][1] == depth:
        stop: Stop = found[0]
        if stop[0] == number:
            before = stop[2]
            path.stops = found[1] if before < 0 else ((number, depth, progress(path, before)), found[1])
            return stop
        found = found[1]
    path.stops = stops
    return None


def progress(path: Path, before: int) -> int:
    """How far into its input the path has looked. A join may forget decisions: what was seen stays seen."""
    for index in reversed(path.slices):
        if index <= before or path.slices[index].constraints:
            return max(index, before)
    return before

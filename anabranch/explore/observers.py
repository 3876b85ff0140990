"""Who is told what happens to paths: the machine's observers, and listeners for what is made of the ends.

Both lists exist before the machine does, so that whoever needs the machine is made after it and is complete
when made. Listeners are called in the order in which they were added, while the machine still holds the path;
an event that nobody hears costs a test of an empty list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from anabranch.machine import Fault, Observer, Path, PathEnd, Where
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import TestCase

Ended = Callable[[Path, str, Where | None], None]
"""`(path, why, where)`: a path ended, by `exit`, an error's kind, `silent` or the kind of a loss."""
Failed = Callable[[Path, Hashable, Fault, Where | None], None]
"""`(path, key, fault, where)`: a path ends in an error; the same error has the same key on every path."""
Reported = Callable[[Hashable, ErrorRecord], None]
"""`(key, error)`: the error goes to the results, once or for each path."""
Tested = Callable[[int, TestCase], None]
"""`(number, test)`: a test was written."""
Covered = Callable[[Sequence[int]], None]
"""`(counters)`: some path has reached these blocks for the first time; told when its turn or path ends."""


class PathEvents:
    """What happens to paths, as far as it makes results."""

    __slots__ = ("covered", "ended", "failed", "reported", "tested")

    def __init__(self) -> None:
        self.covered: list[Covered] = []
        self.ended: list[Ended] = []
        self.failed: list[Failed] = []
        self.reported: list[Reported] = []
        self.tested: list[Tested] = []


Listen = Callable[[PathEvents], None]
LISTENERS: list[Listen] = []
"""Functions from plugins that add their listeners to the events of each run."""


def path_listener(listen: Listen) -> Listen:
    """Register a function that is given the `PathEvents` of each run and adds listeners to them."""
    LISTENERS.append(listen)
    return listen


class Observers:
    """The machine's observer: passes all that it is told on."""

    def __init__(self) -> None:
        self.all: list[Observer] = []

    def path_ended(self, end: PathEnd, where: Where | None) -> None:
        for observer in self.all:
            observer.path_ended(end, where)

    def error_branch(self, fault: Fault, where: Where | None) -> None:
        for observer in self.all:
            observer.error_branch(fault, where)

    def lost(self, kind: str, where: Where | None) -> None:
        for observer in self.all:
            observer.lost(kind, where)

    def warned(self, text: str) -> None:
        for observer in self.all:
            observer.warned(text)

    def assumed(self, asked: str, answer: str, where: Where | None) -> None:
        for observer in self.all:
            observer.assumed(asked, answer, where)

    def defect(self, details: str) -> None:
        for observer in self.all:
            observer.defect(details)

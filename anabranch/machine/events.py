"""What happens on the running path, told to whoever listens.

One hub for a machine. Listeners are functions in a list, called in the order in which they were added; an
event that nobody hears costs a test of an empty list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anabranch.machine.state import Continuation, State
from anabranch.machine.translator.sites import BranchSite, PointSite, ReturnSite, Target
from anabranch.solver import Slice

Forked = Callable[[BranchSite | PointSite, Continuation], None]
"""`(site of the decision, continuation of its frame)`: the running path is about to fork."""
Arrived = Callable[[int, Target, Continuation, tuple[Any, ...]], bool]
"""`(counter, block, continuation and live values of the frame)`: does the running path stop at this block?"""
Returned = Callable[[ReturnSite, Continuation, tuple[Any, ...]], bool]
"""`(site behind the call, continuation and live values of the caller)`: does the running path stop behind
this call?"""
Split = Callable[[BranchSite | PointSite, bool, State, Slice], bool]
"""`(site of the decision, the side that the running path takes, the sibling, the slice that the running path
now has)`: does the running path wait, too?"""


class Events:
    """Everything that a technique can hear of the running path."""

    __slots__ = ("arrived", "entered", "forked", "region", "returned", "split", "tick", "waits")

    def __init__(self) -> None:
        self.entered: list[Callable[[State], None]] = []
        """A waiting state is about to run."""
        self.forked: list[Forked] = []
        self.split: list[Split] = []
        """The running path has forked."""
        self.waits: list[Callable[[State], None]] = []
        """The running path is about to wait as this state; the frames that it ran in are still there."""
        self.arrived: list[Arrived] = []
        """The running path came to a watched block (`Stops.install`); it stops if any listener says so."""
        self.returned: list[Returned] = []
        """The running path came back from a call that is watched; it stops if any listener says so."""
        self.region: list[Callable[[bool], None]] = []
        """The program opens (True) or closes a region whose paths it wants merged, by `klee_open_merge`."""
        self.tick: list[Callable[[], None]] = []
        """Housekeeping is due within a long turn."""

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Nobody hears what happens meanwhile, but who begins to listen inside."""
        lists: list[list[Any]] = [getattr(self, name) for name in self.__slots__]
        heard = [list(listeners) for listeners in lists]
        try:
            for listeners in lists:
                listeners.clear()
            yield
        finally:
            for listeners, before in zip(lists, heard, strict=True):
                listeners[:] = before

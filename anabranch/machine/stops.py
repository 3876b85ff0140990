"""Places where running paths stop, or are looked at, at no cost to any other place.

Every block begins with `N[k] += 1`. A stop is an integer in `N[k]` of a class of its own, whose addition asks
whoever installed it: blocks without a stop run as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from anabranch.machine.ends import Yield
from anabranch.machine.state import Continuation, State
from anabranch.machine.translator.sites import Target

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Arrival = Callable[[int, Target, Continuation, tuple[Any, ...]], bool]
"""`(counter, block, continuation and live values of the frame)`: does the running path stop here?"""


class Stops:
    """The stops of one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.installed: set[int] = set()
        self.arrival: Arrival = lambda number, target, continuation, values: False
        self._classes: dict[int, type[int]] = {}
        self._entered = -1  # the block that a state was just entered at: it has stopped there already

    def install(self, number: int) -> None:
        """Ask `arrival` whenever a block begins."""
        if number in self.installed:
            return
        self.installed.add(number)
        made = self._classes.get(number)
        if made is None:
            made = self._classes[number] = self._make_class(number)
        N = self.machine.counters.N
        N[number] = made(N[number])

    def _make_class(self, number: int) -> type[int]:
        arrive = self._arrive

        def count(self: int, one: int) -> int:
            arrive(number, sys._getframe(1))
            return made(int(self) + one)

        made: type[int] = type("Stop", (int,), {"__slots__": (), "__iadd__": count})
        return made

    def clear(self) -> None:
        """No stops any more."""
        N = self.machine.counters.N
        for number in self.installed:
            N[number] = int(N[number])
        self.installed.clear()

    def entering(self, state: State) -> None:
        """A state is about to run."""
        entry = state.entry
        self._entered = entry.place if isinstance(entry, Target) and entry.key[0] == "block" else -1

    def _arrive(self, number: int, frame: FrameType) -> None:
        entered, self._entered = self._entered, -1
        if number == entered:
            return
        machine = self.machine
        target = machine.trap.block_of(frame)
        if target is None:
            return
        local = frame.f_locals
        continuation = local["K"]
        values = tuple([local[name] for name in target.names])
        if self.arrival(number, target, continuation, values):
            raise Yield(machine.decider.snapshot(target, values, continuation))

"""Blocks, and returns of calls, where the running path may stop; at no cost to any other block.

Every block begins with `N[k] += 1`, and so does what comes behind a call that is counted. A stop is an
integer in `N[k]` of a class of its own, whose addition tells the listeners of `arrived` or `returned`, any of
whom may stop the path there: blocks without a stop run as ever.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from anabranch.machine.ends import Yield
from anabranch.machine.forking import INTERPRETER_CODE
from anabranch.machine.interpreter import Frame
from anabranch.machine.state import Continuation, State
from anabranch.machine.translator.sites import ReturnSite, Target

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine


class Stops:
    """The stops of one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.installed: set[int] = set()
        self._events = machine.events
        self._classes: dict[int, type[int]] = {}
        self._returns: dict[tuple[int, int], ReturnSite | None] = {}
        self._entered = -1  # the block that a state was just entered at, where it has stopped already
        self._suspended: set[int] = set()
        self.suspended = False
        """Are there no stops for now?"""

    def install(self, number: int) -> None:
        """Tell the listeners whenever this block begins, or the call before this counter has returned."""
        if number in self.installed:
            return
        self.installed.add(number)
        made = self._classes.get(number)
        if made is None:
            made = self._classes[number] = self._make_class(number)
        N = self.machine.counters.N
        N[number] = made(N[number])

    def remove(self, number: int) -> None:
        """Nobody is to be told of this block any more."""
        if number in self.installed:
            self.installed.discard(number)
            N = self.machine.counters.N
            N[number] = int(N[number])

    def _make_class(self, number: int) -> type[int]:
        arrive = self._arrive

        def count(self: int, one: int) -> int:
            arrive(number, sys._getframe(1))
            return made(int(self) + one)

        made: type[int] = type("Stop", (int,), {"__slots__": (), "__iadd__": count})
        return made

    def suspend(self) -> None:
        """No stops for now."""
        if not self.suspended:
            self.suspended = True
            N = self.machine.counters.N
            for number in self.installed:
                N[number] = int(N[number])
            self._suspended, self.installed = self.installed, set()

    def resume(self) -> None:
        """The stops that were there before they were suspended."""
        numbers, self._suspended, self.suspended = self._suspended, set(), False
        for number in numbers:
            self.install(number)

    def entering(self, state: State) -> None:
        """A state is about to run."""
        entry = state.entry
        at_a_block = isinstance(entry, ReturnSite) or (isinstance(entry, Target) and entry.key[0] == "block")
        self._entered = entry.place if at_a_block else -1  # type: ignore[attr-defined]

    def _arrive(self, number: int, frame: FrameType) -> None:
        entered, self._entered = self._entered, -1
        if number == entered:
            return
        machine = self.machine
        target = machine.trap.block_of(frame)
        if target is None:
            if self._events.returned:
                self._behind_call(frame)
            return
        local = frame.f_locals
        continuation = local["K"]
        values = tuple([local[name] for name in target.names])
        if any([hear(number, target, continuation, values) for hear in self._events.arrived]):
            raise Yield(machine.decider.snapshot(target, values, continuation))

    def _behind_call(self, frame: FrameType) -> None:
        machine = self.machine
        if frame.f_code is INTERPRETER_CODE:
            running: Frame = frame.f_locals["frame"]
            if not running.position:
                return
            site = running.unit.return_site(running.block, running.position - 1)
            values = tuple([machine.interpreter.register(running, name) for name in site.names])
            if self._stops_behind(site, running.continuation, values):
                raise Yield(machine.decider.snapshot(site, values, running.continuation))
            return
        found = self._return_site(frame)
        if found is None:
            return
        local = frame.f_locals
        continuation = local["K"]
        values = tuple([local[name] for name in found.names])
        if self._stops_behind(found, continuation, values):
            raise Yield(machine.decider.snapshot(found, values, continuation))

    def _stops_behind(self, site: ReturnSite, continuation: Continuation, values: tuple[Any, ...]) -> bool:
        stops = False
        for hear in self._events.returned:
            stops = hear(site, continuation, values) or stops
        return stops

    def _return_site(self, frame: FrameType) -> ReturnSite | None:
        """The call that a frame of translated code has just returned from."""
        instruction = (id(frame.f_code), frame.f_lasti)
        try:
            return self._returns[instruction]
        except KeyError:
            known = self.machine.program.codes.get(id(frame.f_code))
            mark = known[1].get(frame.f_lineno) if known is not None else None
            site = None
            if known is not None and mark is not None and mark.kind == "after":
                site = known[0].return_site(mark.block, mark.position)
            self._returns[instruction] = site
            return site

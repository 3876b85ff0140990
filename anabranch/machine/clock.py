"""Interrupting translated code without a check in it.

Every block begins with `N[k] += 1`. To get control, the name `N` is bound to a `Trap` for a moment: the
next block start calls it, sees which block it is, and may take a snapshot there. In between, running
code is not slowed down.
"""

from __future__ import annotations

import sys
import threading
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from anabranch.machine.ends import Yield
from anabranch.machine.forking import INTERPRETER_CODE
from anabranch.machine.interpreter import Frame
from anabranch.machine.translator.sites import Target

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

INTERVAL = 0.1
MARGIN = 4_000_000  # instructions that certainly do not run between two ticks


class Housekeeper(Protocol):
    """Does its work between two states as well."""

    due: bool


class Trap:
    """Stands in for the counters `N` when housekeeping is due, or counts exactly.

    A path that runs long is sent back to the loop when its turn has used up its instructions, if others
    wait: a turn that begins alone lasts until the first fork and then begins again. So that the same run
    does this at the same instruction every time, counting is exact when the point comes near. A run that
    is to make the most of a limited time cuts turns by the clock instead (`seconds`).
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.real = machine.counters.N
        self.seconds: float | None = None  # a turn may last, while others wait
        self._turn_ends = 0.0
        self.stop_now = False  # at the next block
        self._granted = 0
        self._patience: int | None = None
        self._limit: int | None = None
        self._before: list[int] = []
        self._starts: dict[tuple[int, int], Target | None] = {}
        self._exact: int | None = None  # total of instructions so far, while counting exactly
        self._stop_at: int | None = None

    def begin_turn(self, patience: int, limit: int | None, alone: bool) -> None:
        """A state starts to run: for at most `patience` instructions, to at most `limit` in the whole run.

        As long as it is alone it may run on.
        """
        self._granted = patience
        self._limit = limit
        self.machine.decider.alone = alone
        self._begin(None if alone else patience)

    def in_company(self) -> None:
        """Another state waits from now on."""
        self._begin(self._granted)

    def _begin(self, patience: int | None) -> None:
        self._patience = patience
        limit = self._limit
        self._exact = self._stop_at = None
        self._before = self.real[:]
        if self.seconds is not None:
            self._turn_ends = monotonic() + self.seconds
        if (patience is not None and patience < MARGIN) or limit is not None:
            self.arm()

    def arm(self) -> None:
        self.machine.namespace.names["N"] = self

    def disarm(self) -> None:
        self.machine.namespace.names["N"] = self.real

    def __getitem__(self, number: int) -> int:
        frame = sys._getframe(1)
        target = self.block_of(frame)
        if target is not None:
            if self._time_is_up():
                local = frame.f_locals
                values = tuple(local[name] for name in target.names)
                raise Yield(self.machine.decider.snapshot(target, values, local["K"]))
        elif id(frame.f_code) in self.machine.program.codes:
            pass  # in the middle of a block
        elif self.machine.settings.only_interpret and frame.f_code is INTERPRETER_CODE:
            self._in_interpreter(number, frame.f_locals["frame"])
        elif self._exact is None:
            self.disarm()  # the interpreter finishes a block, within which a path cannot stop
            self._tell()
        if self._exact is not None:
            self._exact += self.machine.counters.sizes[number]
        return self.real[number]

    def block_of(self, frame: FrameType) -> Target | None:
        """The block whose start a frame of translated code stands at, if it stands at one."""
        place = (id(frame.f_code), frame.f_lasti)
        try:
            return self._starts[place]
        except KeyError:
            target = self._starts[place] = self._start_of_block(frame)
            return target

    def _start_of_block(self, frame: FrameType) -> Target | None:
        """The block whose start a frame stands at, if any; finding the line takes long in long code."""
        known = self.machine.program.codes.get(id(frame.f_code))
        mark = known[1].get(frame.f_lineno) if known is not None else None
        if known is None or mark is None or mark.kind != "start":
            return None
        return known[0].target(("block", mark.block))

    def __setitem__(self, number: int, count: int) -> None:
        self.real[number] = count

    def _in_interpreter(self, number: int, frame: Frame) -> None:
        if frame.position == 0 and self._time_is_up():
            self.real[number] += 1  # a state taken at a point has counted its segment
            point = frame.unit.point(frame.block, 0)
            values = tuple(self.machine.interpreter.register(frame, name) for name in point.names)
            raise Yield(self.machine.decider.snapshot(point, values, frame.continuation))

    def _time_is_up(self) -> bool:
        """At the start of a block: is the running path to stop here?"""
        if self._exact is None:
            self.disarm()
            self._tell()
            self._plan()
        over = self._exact is not None and self._stop_at is not None and self._exact >= self._stop_at
        if self.seconds is not None and self._patience is not None and monotonic() >= self._turn_ends:
            over = True
        if not self.stop_now and not over:
            return False
        self._exact = None
        self.disarm()
        return True

    def _tell(self) -> None:
        for hear in self.machine.events.tick:
            hear()

    def _plan(self) -> None:
        """Start to count exactly if the end of the turn may come before the next tick."""
        if self._patience is None and self._limit is None:
            return
        counters = self.machine.counters
        if self._stop_at is None:
            began = sum(map(int.__mul__, self._before, counters.sizes))
            ends = [] if self._patience is None else [began + self._patience]
            self._stop_at = min([*ends, self._limit] if self._limit is not None else ends)
        total = counters.instructions()
        if total + MARGIN >= self._stop_at:
            self._exact = total
            self.arm()


class Ticker:
    """A thread that arms the trap now and then, and asks for housekeeping between two states."""

    def __init__(self, trap: Trap, housekeeper: Housekeeper, interval: float = INTERVAL) -> None:
        self._trap = trap
        self._housekeeper = housekeeper
        self._interval = interval
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="anabranch-ticker", daemon=True)

    def __enter__(self) -> Ticker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._trap.disarm()

    def _tick(self) -> None:
        while not self._end.wait(self._interval):
            self._housekeeper.due = True
            self._trap.arm()

"""Interrupting translated code without a check in it.

Every block begins with `N[k] += 1`. To get control, the name `N` is bound to a `Trap` for a moment: the
next block start calls it, sees which block it is, and may take a snapshot there. In between, running
code pays nothing.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol

from anabranch.machine.ends import Yield

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

INTERVAL = 0.1
MARGIN = 4_000_000  # instructions that certainly do not run between two ticks


class Looker(Protocol):
    """Wants to look around between two states as well."""

    look_due: bool


class Trap:
    """Stands in for the counters `N` when the loop wants to look, or counts exactly.

    A path that runs long without forking is sent back to the loop when its turn has used up its
    instructions. So that the same run does this at the same instruction every time, counting is exact
    when the point comes near.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.real = machine.counters.N
        self.stop_now = False  # at the next block
        self._patience: int | None = None
        self._limit: int | None = None
        self._before: list[int] = []
        self._exact: int | None = None  # total of instructions so far, while counting exactly
        self._stop_at: int | None = None

    def begin_turn(self, patience: int | None, limit: int | None) -> None:
        """A state starts to run: for at most `patience` instructions, to at most `limit` in the whole run."""
        self._patience = patience
        self._limit = limit
        self._exact = self._stop_at = None
        self._before = self.real[:]
        if (patience is not None and patience < MARGIN) or limit is not None:
            self.arm()

    def arm(self) -> None:
        self.machine.namespace.names["N"] = self

    def disarm(self) -> None:
        self.machine.namespace.names["N"] = self.real

    def __getitem__(self, number: int) -> int:
        frame = sys._getframe(1)
        known = self.machine.program.codes.get(frame.f_code)
        if known is not None:
            unit, marks = known
            mark = marks.get(frame.f_lineno)
            if mark is not None and mark.kind == "start":
                self._at_block(unit, mark.block, frame.f_locals)
        elif self._exact is None:
            self.disarm()  # the interpreter counts: a look is all it allows
            self.machine.observer.tick()
        if self._exact is not None:
            self._exact += self.machine.counters.sizes[number]
        return self.real[number]

    def __setitem__(self, number: int, count: int) -> None:
        self.real[number] = count

    def _at_block(self, unit: Any, block: int, variables: Any) -> None:
        if self._exact is None:
            self.disarm()
            self.machine.observer.tick()
            self._plan()
        if self.stop_now or (
            self._exact is not None and self._stop_at is not None and self._exact >= self._stop_at
        ):
            self._exact = None
            self.disarm()
            target = unit.target(("block", block))
            values = tuple(variables[name] for name in target.names)
            raise Yield(self.machine.decider.snapshot(target, values, variables["K"]))

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
    """A thread that arms the trap now and then, and asks for a look between two states."""

    def __init__(self, trap: Trap, looker: Looker, interval: float = INTERVAL) -> None:
        self._trap = trap
        self._looker = looker
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
            self._looker.look_due = True
            self._trap.arm()

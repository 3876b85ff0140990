"""Redundant state detection (Bugrara and Engler): states that cannot reach new code are dropped.

A state is redundant if it agrees, in all that decides whether uncovered code is reached, with a state whose
paths have all ended. What decides that is found by slicing those paths backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, ClassVar

from anabranch.explore.build import Parts
from anabranch.explore.coverage import BlockTable
from anabranch.explore.library import is_user_function
from anabranch.explore.technique import Contract, Settled, Technique
from anabranch.ir.module import Function
from anabranch.machine import Events, Exit, Fault, Loss, PathEnd, ProgramError, State, Where
from anabranch.machine.recording import RecordingMachine
from anabranch.machine.state import Continuation
from anabranch.machine.tape import Forced, Interpreted, Lost, ModelCall, Stack, address_at, stack_of
from anabranch.machine.translator.sites import BranchSite, CallSite, PointSite, ReturnSite, Target
from anabranch.machine.translator.unit import Unit
from anabranch.reduce.redundancy.facts import ProgramFacts
from anabranch.reduce.redundancy.goals import ErrorPlaces, Goals
from anabranch.reduce.redundancy.items import Mark
from anabranch.reduce.redundancy.ledger import FORK, Ledger
from anabranch.reduce.redundancy.live import Live
from anabranch.reduce.redundancy.matching import Table
from anabranch.reduce.redundancy.points import Point
from anabranch.reduce.redundancy.settings import AUTO, RedundancySettings
from anabranch.reduce.redundancy.slicing import Slicer
from anabranch.reduce.redundancy.stretches import (
    BARREN,
    DROPPED,
    FAILED,
    LOST,
    RETURNED,
    Stretch,
    Stretches,
    merged,
    pending_notes,
)
from anabranch.reduce.redundancy.verify import ShadowVerifier
from anabranch.solver import Slice


class Redundancy(Technique):
    """Drops a state if a snapshot matches it."""

    name: ClassVar[str] = "redundancy"
    contract: ClassVar[Contract] = Contract(
        keeps="coverage of every reachable instruction of the chosen files",
        loses="paths, and errors, that reach no code that is not covered",
        serves=frozenset(("coverage",)),
    )

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._settings = parts.settings.group(RedundancySettings)
        machine = parts.machine
        assert isinstance(machine, RecordingMachine), "the run was built without a tape"
        self._machine = machine
        nothing: Stretch | None = None
        self._slot = machine.extras.slot(nothing, lambda a, b, kept, other: merged(kept))
        self._tape = machine.tape
        self._items = self._tape.items
        self._program: ProgramFacts | None = None
        self._running: Stretch | None = None
        self._table = Table()
        self._armed: dict[int, int] = {}
        """Counter of a block where states are compared -> how often in vain."""
        self._armed_calls: set[CallSite] = set()
        self._waiting: dict[int, int] = {}
        """Counter of a stretch of code -> states that wait in the middle of it."""
        self._dropped = {"matched": 0, "no goal ahead": 0}
        self._ledger = Ledger()
        self._given_up = False
        """Has the tape been taken out of the code, because detection did not pay?"""
        self._armed_by_us: set[int] = set()
        self._refined = 0
        self._gone_over = 0  # items when it was refined last
        self._stale = False
        self._share = parts.budget.share(self.name, 1.0)
        self._version = -1
        self._forks = 0
        self._ends = 0
        self._verifier: ShadowVerifier | None = None
        if parts.settings.search.verify_reductions:
            self._verifier = ShadowVerifier(machine, lambda: parts.budget.time_is_up, self._counts_goal)
        parts.observers.all.append(self)

    def instrument(self, table: BlockTable) -> None:
        table.count_every_call()

    def listen(self, events: Events) -> None:
        for heard, listener in self._listeners(events):
            heard.append(listener)

    def _listeners(self, events: Events) -> list[tuple[list[Any], Any]]:
        found: list[tuple[list[Any], Any]] = [
            (events.entered, self._entered),
            (events.split, self._split),
            (events.waits, self._waits),
        ]
        if self._settings.joins:
            found += [(events.arrived, self._arrived), (events.returned, self._returned)]
        return found

    def begin(self, states: Sequence[State]) -> Sequence[State]:
        parts = self.parts
        self._program = ProgramFacts(parts, self._tape)
        self._errors = ErrorPlaces() if self._settings.keep_errors else None
        self._goals = Goals(
            self._program, parts.table, self._machine.counters.N, self._is_chosen, self._errors
        )
        self._slicer = Slicer(
            self._tape,
            self._program,
            self._goals.ahead,
            self._goals.aim,
            self._goals.is_quiet,
            lambda: self._goals.at_exit,
            self._publish,
        )
        program = self._program
        self._stretches = Stretches(self._tape, self._slicer, lambda: Live(program), self._publish)
        return states

    def _is_chosen(self, function: Function) -> bool:
        if not is_user_function(function):
            return False
        files = self._settings.cover
        if not files:
            return True
        return function.subprogram is not None and function.subprogram.file.endswith(tuple(files))

    def _publish(self, point: Point, live: Live) -> None:
        self._ledger.snapshots += 1
        self._table.add(point, live)

    def _counts_goal(self, number: int) -> bool:
        table = self.parts.table
        return table.block_of(number) is not None and self._is_chosen(table.function_of(number))

    # ---- what the running path does ------------------------------------------------------------------

    def _entered(self, state: State) -> None:
        stretch = self._slot.get(state)
        if stretch is None:
            stretch = Stretch(None, None, None)
            self._slot.put(self._machine.path, stretch)
        self._running = stretch
        self._items[:] = stretch.tape
        if isinstance(state.entry, PointSite):
            self._waits_in(state.entry, -1)

    def _waits_in(self, site: PointSite, change: int) -> None:
        count = self._waiting.get(site.place, 0) + change
        if count > 0:
            self._waiting[site.place] = count
        else:
            self._waiting.pop(site.place, None)

    def _split(self, site: BranchSite | PointSite, side: bool, sibling: State, mine: Slice) -> bool:
        stretch = self._running
        if stretch is None:
            return False
        self._forks += 1
        items = self._items
        self._ledger.explored += FORK + len(items)
        notes = pending_notes(items) if isinstance(site, PointSite) else []
        stretch.tape = items[:]
        items.clear()
        before = stretch.last_code()
        if isinstance(site, BranchSite):
            here, there = (site.if_true, site.if_false) if side else (site.if_false, site.if_true)
            own, other = Stretch(stretch, before, here), Stretch(stretch, before, there)
            for child, target, changed in ((own, here, mine), (other, there, None)):
                point = Point.of(sibling, target, changed)
                if child.is_side:
                    child.point = point
                else:
                    child.tape = [Mark(point)]
            items[:] = own.tape
            self._arm(site)
        else:
            self._waits_in(site, 1)
            own, other = Stretch(stretch, before, None), Stretch(stretch, before, None)
            part = self._machine.part_before(site)
            mark = Mark(Point.of(sibling, site))
            if part is not None:
                items[:] = notes
                other.tape = [*notes, part, mark]
            else:
                other.tape = [mark]
                if not isinstance(before, Interpreted):
                    items.append(Mark(Point.of(sibling, site, mine)))
        self._arm_returns(sibling.continuation)
        if self._settings.joins:
            self._arm_loops(site.unit, site.block)
        stretch.children, stretch.open = (own, other), 2
        self._slot.put(sibling, other)
        self._slot.put(self._machine.path, own)
        self._running = own
        if own.point is None:
            return False
        began = perf_counter()
        found = self._table.find(own.point)
        self._share.charge(perf_counter() - began)
        return found is not None

    def _waits(self, state: State) -> None:
        stretch = self._running
        if stretch is None:
            return
        site = state.entry
        if isinstance(site, PointSite):
            self._waits_in(site, 1)
            part = None if self._is_interpreted(site) else self._machine.part_before(site)
            if part is not None:
                self._items.append(part)
        stretch.tape = self._items[:]
        self._items.clear()
        self._running = None

    def _is_interpreted(self, site: PointSite) -> bool:
        """Is the instruction that the path waits at on the tape already?"""
        last = self._items[-1] if self._items else None
        return isinstance(last, Interpreted) and last.unit is site.unit and last.position == site.position

    # ---- join points ---------------------------------------------------------------------------------

    def _arm(self, site: BranchSite) -> None:
        """Compare states where the sides of a branch come together."""
        if not self._settings.joins:
            return
        assert self._program is not None
        unit = site.unit
        regions = self._program.regions(unit.function)
        end = regions.end[site.block]
        if not 0 < end < regions.exit:
            return
        self._watch(unit.counters.segments[end, 0])

    def _arm_returns(self, continuation: Continuation) -> None:
        """Compare states behind the calls that they forked in."""
        if not self._settings.joins:
            return
        while continuation[1] is not None:
            site = continuation[1]
            if site in self._armed_calls:
                return  # and so are those below
            self._armed_calls.add(site)
            self._arm_loops(site.unit, site.block)
            number = site.unit.counters.segments.get((site.block, site.position + 1))
            if number is not None:
                self._watch(number)
            continuation = continuation[0]

    def _arm_loops(self, unit: Unit, block: int) -> None:
        """Compare states that have forked in a loop where it goes on."""
        assert self._program is not None
        for head in self._program.loop_heads(unit.function, block):
            self._watch(unit.counters.segments[head, 0])

    def _watch(self, number: int) -> None:
        """Stop where a counter counts."""
        if number not in self._armed:
            self._armed[number] = 0
            stops = self._machine.stops
            if number not in stops.installed:
                self._armed_by_us.add(number)
            stops.install(number)

    def _arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        if number not in self._armed:
            return False
        return self._compared(target, continuation, values)

    def _returned(self, site: ReturnSite, continuation: Continuation, values: tuple[Any, ...]) -> bool:
        return site.place in self._armed and self._compared(site, continuation, values)

    def _compared(
        self, target: Target | ReturnSite, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        """Is the running path redundant here? If not, what is relevant here will be known later."""
        if self._running is None:
            return False
        began = perf_counter()
        path, memory = self._machine.path, self._machine.memory
        memory.freeze()
        point = Point(target, values, continuation, memory.pages, memory.objects, path.notes, path.pack())
        found = self._table.find(point)
        self._share.charge(perf_counter() - began)
        if found is not None:
            return True
        self._items.append(Mark(point))
        return False

    # ---- ends of paths -------------------------------------------------------------------------------

    def path_ended(self, end: PathEnd, where: Where | None) -> None:
        stretch, self._running = self._running, None
        if stretch is None:
            return
        self._ledger.explored += len(self._items)
        self._ends += 1
        if isinstance(end, Exit):
            stretch.end = RETURNED
        else:
            stretch.end = LOST if isinstance(end, Loss) else FAILED
            if isinstance(end, ProgramError):
                self._reported(where)
            if where is not None:
                stretch.stack = stack_at(where)
                self._note_failure(where)
        stretch.tape = self._items[:]
        self._items.clear()
        self._ended(stretch)

    def _note_failure(self, where: Where) -> None:
        items = self._items
        last = len(items) - 1
        while last >= 0 and isinstance(items[last], Forced | Lost):
            last -= 1
        known = items[last] if last >= 0 else None
        interpreted = isinstance(known, Interpreted) and (
            known.unit is where.unit and known.block == where.block and known.position == where.position
        )
        if not interpreted and not isinstance(known, ModelCall):
            part = self._tape.part(where.unit, where.block, where.position, where.values)
            if part is not None:
                items.append(part)
        items.append(self._tape.failure(where))

    def error_branch(self, fault: Fault, where: Where | None) -> None:
        self._reported(where)
        if self._running is None:
            return
        stack: Stack = () if where is None else stack_at(where)
        if self._tape.call is not None:
            self._tape.call.forced = stack
        elif where is None:
            self._items.append(Lost(()))
        else:
            self._items.append(Forced(where.unit, where.block, where.position, address_at(where), stack))

    def _reported(self, where: Where | None) -> None:
        """An error was found. In the library, one place stands for errors of many callers."""
        if self._errors is None or where is None or not is_user_function(where.function):
            return
        if self._errors.report(where.key):
            self._version = -1

    def ignored(self, *arguments: Any) -> None:
        """It changes nothing."""

    lost = warned = assumed = defect = ignored

    def _close(self, stretch: Stretch) -> None:
        if self.parts.new_coverage.version != self._version:
            self._version = self.parts.new_coverage.version
            self._goals.update(self._waiting)
            self._slicer.goals_changed()
            self._stale = True
        self._stretches.close(stretch)

    def _ended(self, stretch: Stretch) -> None:
        """A path has ended by itself."""
        began = perf_counter()
        self._close(stretch)
        self._share.charge(perf_counter() - began)

    # ---- operators -----------------------------------------------------------------------------------

    def settle(self) -> Iterable[Settled]:
        """Refine (3.4), when coverage has grown and all that is remembered takes no longer to go over again
        than what was gone over since the last time."""
        if self._given_up:
            return ()
        ledger = self._ledger
        ledger.items, ledger.looked_up = self._slicer.items, self._table.looked_up
        if self._settings.use == AUTO and not ledger.pays:
            self._give_up()
            return ()
        if self._stale and self._slicer.items - self._gone_over >= self._stretches.items:
            began = perf_counter()
            self._stale = False
            self._refined += 1
            self._table.clear()
            self._stretches.slice_again()
            self._gone_over = self._slicer.items
            self._share.charge(perf_counter() - began)
        return ()

    def _give_up(self) -> None:
        """Detection does not pay: explore the rest as if there were none."""
        self._given_up = True
        for heard, listener in self._listeners(self._machine.events):
            heard.remove(listener)
        self.parts.observers.all.remove(self)
        for number in self._armed_by_us:
            self._machine.stops.remove(number)
        self._machine.stop_recording()
        self._table.clear()
        self._stretches.closed.clear()

    def covers(self, state: State) -> bool:
        stretch = self._slot.get(state)
        site = state.entry
        if self._given_up or stretch is None or site.__class__ not in (Target, PointSite, ReturnSite):
            return False
        began = perf_counter()
        drops = self._is_redundant(state, stretch, site)
        self._share.charge(perf_counter() - began)
        return drops

    def _is_redundant(self, state: State, stretch: Stretch, site: Target | PointSite | ReturnSite) -> bool:
        stack = stack_of(site.unit, site.block, position_of(site), state.continuation)
        if not self._goals.reachable(stack):
            stretch.end, stretch.stack, stretch.stopped = BARREN, stack, site
            self._dropped["no goal ahead"] += 1
            self._ledger.saved += self._ledger.explored // max(1, self._ends)
            self._drop(state, stretch)
            return True
        found = self._table.find(Point.of(state, site))
        if found is None:
            return False
        stretch.end, stretch.matched, stretch.stopped = DROPPED, found, site
        self._dropped["matched"] += 1
        self._ledger.saved += found.live.work
        self._drop(state, stretch)
        return True

    def covered(self, state: State) -> None:
        """A dropped state still gets a test for what it alone has covered."""
        self.parts.reporter.pruned(state, state.multiplicity)
        # With --keep-errors, too: "no check can fail on any input" is said of runs that followed every path.
        self.parts.reporter.losses.add(f"pruned: {self.name}")

    def _drop(self, state: State, stretch: Stretch) -> None:
        if self._verifier is not None:
            table = self.parts.table
            where = f"{table.function_of(state.place).name}, {table.describe(state.place)}"
            self._verifier(state, where)
        if isinstance(state.entry, PointSite):
            site = state.entry
            self._waits_in(site, -1)
            self._machine.counters.cut(site.unit.function, site.block, site.position)
        self._close(stretch)

    def _dead(self) -> list[tuple[str, int]] | None:
        """The lines that are unreachable in the modelled environment; None if something was lost, or if paths
        ended in errors: nobody knows then what is behind them."""
        if self.parts.reporter.tally.failures:
            return None
        lost = [kind for kind in self.parts.reporter.losses.as_dict() if not kind.startswith("pruned")]
        if lost:
            return None
        table, chosen = self.parts.table, set()
        counts = self._machine.counters.N
        covered = table.lines_covered(counts)
        for function in table.user_functions():
            if self._is_chosen(function):
                chosen |= table.lines_of(function)
        return sorted(chosen - covered)

    def finish(self) -> None:
        if self._verifier is None:
            return
        for location, blocks in self._verifier.wrong():
            places = ", ".join(sorted(self.parts.table.describe(number) for number in blocks)[:3])
            self.parts.reporter.losses.add("wrongly dropped")
            self.parts.listener.on_warning(f"a state in {location} was dropped that alone reaches {places}")

    # ---- figures -------------------------------------------------------------------------------------

    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "dropped": sum(self._dropped.values()),
            **self._dropped,
            "forks": self._forks,
            "snapshots": self._table.snapshots,
            "looked up": self._table.looked_up,
            "not kept": self._table.not_kept,
            "stretches": len(self._stretches.closed),
            "items": self._slicer.items,
            "skipped": self._slicer.skipped,
            "goals left": self._goals.left,
            "refined": self._refined,
            "explored": self._ledger.explored,
            "spent": self._ledger.spent,
            "saved": self._ledger.saved,
            "given up": self._given_up,
            "backwards": round(self._stretches.seconds, 3),
            "seconds": round(self._share.used, 3),
        }
        dead = self._dead()
        if dead is not None:
            found["proved dead"] = [f"{file}:{line}" for file, line in dead]
        if self._verifier is not None:
            found |= {
                "verified": self._verifier.verified,
                "not decided": self._verifier.undecided,
                "wrong": len(self._verifier.wrong()),
            }
        return found


def stack_at(where: Where) -> Stack:
    return stack_of(where.unit, where.block, where.position, where.continuation)


def position_of(site: Target | PointSite | ReturnSite) -> int:
    """The instruction of its block that a site is in front of."""
    return 0 if isinstance(site, Target) else site.position

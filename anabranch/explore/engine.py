"""One exploration from beginning to end: runs the loop, looks around meanwhile, sums up."""

from __future__ import annotations

import gc
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from anabranch import expr
from anabranch.environment.unknown import answers_of
from anabranch.explore.answers import library_answers
from anabranch.explore.build import make_backend, make_machine, make_order, make_unknown
from anabranch.explore.check_sites import check_sites
from anabranch.explore.checks import Check, chosen
from anabranch.explore.coverage import BlockTable
from anabranch.explore.entry import Build, entry_arguments, start_states
from anabranch.explore.figures import Figures
from anabranch.explore.library import is_user_function
from anabranch.explore.limits import Limits, LimitSettings, least_promising, release_memory
from anabranch.explore.loop import explore_states
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.observers import Observers, PathEvents
from anabranch.explore.protocols import Merge, NoMerge, NoPrune, Prune, Search
from anabranch.explore.reporter import Reporter
from anabranch.explore.settings import ExploreSettings, LoadedProgram
from anabranch.explore.signals import HandledSignals
from anabranch.explore.tree import ExecutionTree, Row
from anabranch.explore.tree_rows import Details, node_rows
from anabranch.ir.module import Function
from anabranch.machine import State
from anabranch.machine.clock import Ticker
from anabranch.report.events import Listener
from anabranch.report.result import RunResult
from anabranch.solver import SliceSpace

STACK_BYTES = 1 << 30
NO_BATCH = 1 << 60
ROWS_KEPT = 400_000  # rows of the execution tree in memory before they are written
ROWS_KEPT_TIMED = 20_000  # with a limit of time: writing them takes long, and is to be done when it is up
TURN_INSTRUCTIONS = 1000  # what a turn counts for at least, also if it loops without a fork
FORKING_SHARE = 10  # of the time of a turn, after which it ends at a fork
TURN_SECONDS = 0.01  # of a turn in vain count like another one, where time is limited
TURNS_IN_TIME = 600  # turns that the time limit of a run has room for at least
FINISHING = 0.03  # of the time limit, that tests of what merged paths have covered may take when it is up
STATS_SECONDS = 1.0
PROGRESS_SECONDS = 0.2
LOOK_SHARE = 50  # times as long as a look took, it is not repeated


@dataclass(frozen=True, slots=True)
class Operators:
    """The operators of the loop that techniques replace, and what they have to say at the end."""

    search: Search[State]
    merge: Merge[State]
    prune: Prune[State]
    figures: Callable[[], dict[str, Any]] = dict
    in_a_hurry: Callable[[], bool] = bool
    """Is the state that was just picked to come back after its next fork?"""
    finish: Callable[[], None] = lambda: None
    """Told when all is done, before anything is counted."""


class Exploration:
    """The parts of a run and its bookkeeping."""

    def __init__(
        self,
        program: LoadedProgram,
        settings: ExploreSettings,
        listener: Listener,
        log_dir: Path | None = None,
        reduce: Reduce | None = None,
        events: PathEvents | None = None,
    ) -> None:
        self.program = program
        self.settings = settings
        self.listener = listener
        expr.reset()
        self.rows: list[list[Row]] = []
        self.row_count = 0
        self.rows_kept = ROWS_KEPT if settings.max_time is None else ROWS_KEPT_TIMED
        self.tree = ExecutionTree(self._keep_rows)
        self.table = BlockTable(program.module, is_user_function, after_calls=True)
        self.space = SliceSpace(make_backend(settings, log_dir))
        self.observers = Observers(self.look)
        self.machine = make_machine(program, settings, self.table, self.tree, self.observers, self.space)
        self.unknown = make_unknown(self.machine, settings)
        counters = self.machine.counters.N
        self.new_coverage = NewCoverage(counters, self.table.is_user_code)
        self.reporter = Reporter(
            self.machine,
            self.table,
            self.tree,
            settings,
            listener,
            events if events is not None else PathEvents(),
            self.new_coverage,
            partial(answers_of, objects=self.unknown.objects) if self.unknown is not None else None,
        )
        self.observers.all.append(self.reporter)
        self.vain: dict[int, int] = {}  # turns by the place they began at that covered nothing new
        self.search = make_order(
            program, settings, self.tree, self.table, counters, self.new_coverage, self.vain
        )
        self.operators = Operators(self.search, NoMerge(), NoPrune())
        self.batch = NO_BATCH if settings.search == ("dfs",) else settings.batch_forks
        if reduce is not None:
            self.operators = reduce(self)
            self.search = self.operators.search
        self.figures = Figures(self.machine, self.table, self.tree, self.search, self.reporter, self.space)
        self.limits = Limits(
            LimitSettings(
                time=settings.max_time,
                instructions=settings.max_instructions,
                tests=settings.max_tests,
                memory=settings.max_memory * 1_000_000 if settings.max_memory else None,
            )
        )
        if settings.max_time is not None:
            self.machine.trap.seconds = settings.max_time / TURNS_IN_TIME
        self.stopped: str | None = None
        self.states_to_end = 0  # for the sake of memory
        self.waiting_max = 0
        self.picks = 0
        self._details = Details(self.table.describe, expr.short_text, self.tree.joins)
        self._next_progress = self._next_stats = 0.0
        self.look_due = False
        self.arguments: Build = lambda api, decide: entry_arguments(api, self.function, settings, decide)

    @property
    def function(self) -> Function:
        """Where the program starts."""
        return self.program.module.functions[self.program.entry]

    # ---- the machine as the loop sees it -------------------------------------------------------------

    def advance(self, state: State) -> Sequence[State]:
        """Run a state to where control comes back; it comes last among its successors."""
        self.picks += 1
        place, before, began = state.place, self.new_coverage.version, time.monotonic()
        trap = self.machine.trap
        settings = self.settings
        trap.begin_turn(settings.batch_instructions, settings.max_instructions, alone=not len(self.search))
        if trap.seconds is not None:
            self.machine.decider.turn_ends = began + trap.seconds / FORKING_SHARE
        own, siblings = self.machine.run(state, 1 if self.operators.in_a_hurry() else self.batch)
        if own is not None:
            if self.new_coverage.check():
                own.covered_new = self.reporter.covers
                own.instructions_since_new = 1
                for sibling in siblings:
                    sibling.instructions_since_new = 1
            elif own.instructions_since_new:
                own.instructions_since_new += TURN_INSTRUCTIONS
            siblings.append(own)
        if self.new_coverage.version == before:
            cost = 1
            if trap.seconds is not None:  # time is short, and long turns take more of it
                cost += int((time.monotonic() - began) / TURN_SECONDS)
            self.vain[place] = self.vain.get(place, 0) + cost
        waiting = len(self.search) + len(siblings)
        if waiting > self.waiting_max:
            self.waiting_max = waiting
        return siblings

    # ---- looking around ------------------------------------------------------------------------------

    def go_on(self) -> bool:
        """Between two states: look around if it is time to, make room if memory runs short."""
        if self.look_due or self.settings.max_tests is not None or self.settings.max_instructions is not None:
            self.look()
            if self.states_to_end:
                self._save_memory()
        return self.stopped is None

    def look(self) -> None:
        """Now and then: limits, memory, progress, statistics."""
        self.look_due = False
        if self.stopped is None:
            self.stopped = self.limits.check(self.figures)
        self.states_to_end = self.states_to_end or self.limits.states_to_end(len(self.search))
        now = time.monotonic()
        if now >= self._next_progress:
            self.listener.on_progress(self.figures.progress())
            self._next_progress = next_look(now, PROGRESS_SECONDS)
        self.machine.trap.stop_now = self.stopped is not None or self.states_to_end > 0
        if now >= self._next_stats:
            self.listener.on_stats(self.figures.stats_row())
            self._next_stats = next_look(now, STATS_SECONDS)

    def _save_memory(self) -> None:
        """Memory runs short: drop what can be made again; if that is not enough, end the least promising
        waiting states. Each one is counted, and the last one goes on: it may fit."""
        wanted, self.states_to_end = self.states_to_end, 0
        self.machine.trap.stop_now = False
        self._drop_caches()
        if self.limits.short_of_memory():
            self._give_up(
                least_promising(self.search.states(), min(wanted, len(self.search) - 1)), "out-of-memory"
            )
            self._drop_caches()

    def _drop_caches(self) -> None:
        self.space.evict(0)
        self.machine.namespace.forget_symbolic()
        self.machine.addresses.forget_symbolic()
        expr.collect()

    def _give_up(self, states: Sequence[State], why: str, until: float = inf) -> None:
        for state in states:
            self.search.remove(state)
            self.reporter.given_up(state, why, until)

    def interrupt(self, number: int, frame: object) -> None:
        """Ctrl-C or SIGTERM: stop at the next block; a second one breaks off at once."""
        if self.stopped in ("interrupted", "terminated"):
            raise KeyboardInterrupt
        self.stopped = "interrupted" if number == signal.SIGINT else "terminated"
        self.machine.trap.stop_now = True
        self.machine.trap.arm()

    # ---- the execution tree --------------------------------------------------------------------------

    def _keep_rows(self, rows: list[Row]) -> None:
        self.rows.append(rows)
        self.row_count += len(rows)
        if self.row_count >= self.rows_kept:
            self.write_rows()

    def write_rows(self) -> None:
        rows, self.rows, self.row_count = self.rows, [], 0
        for batch in rows:
            self.listener.on_tree(node_rows(batch, self.table.text_line), self._details.rows(batch))

    # ---- the whole -----------------------------------------------------------------------------------

    def run(self) -> RunResult:
        machine = self.machine
        allow_deep_stack()
        previous_limit = sys.getrecursionlimit()
        machine.activate()
        states = start_states(machine, self.tree, self.function.name, self.arguments)
        self.search.add(states)
        self.table.lines_total()  # reads the user's functions, which is none of the exploration
        self.figures.restart()
        self.listener.on_progress(self.figures.progress())
        gc.collect()
        release_memory()  # of an exploration before this one
        gc.freeze()
        gc.disable()
        try:
            return self._result(self._explore(previous_limit))
        finally:
            # Not before the result is made: a collection looks at every object of every state.
            gc.enable()
            gc.unfreeze()

    def _explore(self, recursion_limit: int) -> float:
        """All states; returns the seconds of CPU that took."""
        operators = self.operators
        try:
            with Ticker(self.machine.trap, self), HandledSignals(self.interrupt):
                explore_states(self.search, self, operators.merge, operators.prune, self.go_on)
        finally:
            explored = self.figures.cpu_seconds
            sys.setrecursionlimit(recursion_limit)
            self.machine.deactivate()
        return explored

    def _result(self, explored: float) -> RunResult:
        reporter = self.reporter
        left = len(self.search)
        if self.stopped is not None:
            limit = self.settings.max_time
            until = inf if limit is None else time.monotonic() + FINISHING * limit
            self._give_up(list(self.search.states()), self.stopped, until)
        self.operators.finish()
        self.tree.flush()
        self.write_rows()
        self.listener.on_stats(self.figures.stats_row())
        result = RunResult(
            complete=not reporter.tally.losses and not left,
            paths_exit=reporter.tally.exits,
            paths_error=reporter.tally.failures,
            paths_total=reporter.tally.total,
            paths_left=reporter.tally.left,
            tests=reporter.tests,
            errors=reporter.errors,
            states_explored=self.tree.states,
            states_waiting_max=self.waiting_max,
            instructions=self.figures.instructions,
            coverage=self.table.report(self.machine.counters.N),
            queries=self.figures.queries(),
            timers={"explore": explored, "solver": self.figures.solver_seconds},
            main_entered=self.machine.program.first_called.get("main"),
            unexplored=reporter.cut.unexplored(
                self.program.module, self.program.entry, self.table, self.machine.counters.N
            ),
            checks=check_sites(
                self._checks(),
                self.table,
                self.machine.counters.N,
                reporter.tally.exits > 0,
            ),
            defects=reporter.defects,
            stopped=self.stopped,
            searcher=self.search.description,
            paths_multiplicity=reporter.tally.multiplicity,
            paths_exact=reporter.exact_paths,
            reductions=self.operators.figures(),
            unknown_calls=self.unknown.as_json() if self.unknown is not None else {},
            fixed_answers=reporter.fixed_answers | library_answers(self.machine.program.first_called),
            uninitialised=self._uninitialised(),
        )
        for kind, places in reporter.tally.losses.as_dict().items():
            for place, count in places.items():
                result.lose(kind, place, count)
        return result

    def _checks(self) -> list[Check]:
        """The checks that the run made: what may hold anything, or zero, is no error."""
        made = chosen(self.settings.checks, self.settings.no_checks)
        error = self.settings.uninitialised == "error"
        return [check for check in made if error or check.name != "uninitialised"]

    def _uninitialised(self) -> dict[str, Any]:
        """What was assumed of uninitialised memory and locals, as `run.json` tells it."""
        unknowns = self.machine.unknowns
        if unknowns is None:
            return {} if self.settings.uninitialised == "error" else {"values": "zero"}
        return {"values": "symbolic", "decided_on": dict(sorted(unknowns.decisions.items()))}


def next_look(began: float, interval: float) -> float:
    """When to look again, so that looking takes little of the time also where a look takes long."""
    now = time.monotonic()
    return now + max(interval, LOOK_SHARE * (now - began))


Reduce = Callable[[Exploration], Operators]
"""Puts techniques in: is given the parts of a run before it begins."""


def allow_deep_stack() -> None:
    """Deep recursion of a program may also nest calls within the Python interpreter itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


def explore(
    program: LoadedProgram,
    settings: ExploreSettings,
    listener: Listener,
    log_dir: Path | None = None,
    reduce: Reduce | None = None,
) -> RunResult:
    """Explore a program; everything found goes to the listener at once, queries to files in `log_dir`."""
    return Exploration(program, settings, listener, log_dir, reduce).run()

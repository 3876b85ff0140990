"""One exploration from beginning to end: builds the loop from parts and techniques, runs it, sums up."""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from anabranch import expr
from anabranch.explore.answers import library_answers
from anabranch.explore.budget import READING
from anabranch.explore.build import Parts, build_parts
from anabranch.explore.check_sites import check_sites
from anabranch.explore.checks import Check
from anabranch.explore.entry import Build, entry_arguments, start_states
from anabranch.explore.figures import Figures
from anabranch.explore.housekeeping import Housekeeping
from anabranch.explore.kinds import OUT_OF_MEMORY
from anabranch.explore.loop import explore_states
from anabranch.explore.settings import ExploreSettings, LoadedProgram
from anabranch.explore.signals import HandledSignals
from anabranch.explore.technique import Technique, Techniques
from anabranch.explore.turns import NO_BATCH, Turns, TurnSettings
from anabranch.explore.worklist import Worklist
from anabranch.machine import Machine, ModelApi, State
from anabranch.machine.clock import Ticker
from anabranch.process_memory import release_memory
from anabranch.report.events import Listener
from anabranch.report.result import RunResult

STACK_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class TechniqueMaker:
    """Makes the techniques of a run, given its parts."""

    make: Callable[[Parts], Sequence[Technique]]
    machine: type[Machine] = Machine
    """What runs the program: a subclass that tells them more, if they need it."""


NO_TECHNIQUES = TechniqueMaker(lambda parts: ())


class Exploration:
    """The parts of a run, its techniques and its loop."""

    one_before: ClassVar[bool] = False
    """Has this process explored before? Then there is something to collect, which takes 5 ms at least."""

    def __init__(
        self, parts: Parts, techniques: Sequence[Technique] = (), arguments: Build | None = None
    ) -> None:
        """`arguments`: makes what the entry function is called with, if not what the settings say."""
        self.parts = parts
        self.settings = settings = parts.settings
        self.machine, self.tree, self.table = parts.machine, parts.tree, parts.table
        self.reporter, self.space = parts.reporter, parts.space
        self.techniques = Techniques(techniques)
        for technique in techniques:
            technique.instrument(parts.table)
            technique.listen(parts.machine.events)
        self.worklist = Worklist(
            self.techniques.order(parts.search), [index for one in techniques for index in one.indexes]
        )
        self.figures = Figures(
            parts.machine, parts.table, parts.tree, self.worklist, parts.reporter, parts.space
        )
        self.housekeeping = Housekeeping(
            parts.budget, self.figures, parts.machine, parts.listener, self._drop_caches
        )
        if settings.errors.stop_on_error:
            parts.path_events.reported.append(lambda key, error: self.housekeeping.stop("stop-on-error"))
        if parts.targets is not None:
            parts.targets.stop = self.housekeeping.stop
        self.turns = Turns(
            parts.machine,
            self.worklist,
            parts.new_coverage,
            parts.fruitless,
            TurnSettings(
                forks=NO_BATCH if settings.search.orders == ("dfs",) else settings.search.batch_forks,
                instructions=settings.search.batch_instructions,
                max_instructions=settings.limits.instructions,
                covers=parts.reporter.covers,
            ),
            parts.budget,
        )
        self._arguments = arguments or self._entry_arguments

    def _entry_arguments(self, api: ModelApi, decide: Callable[[Any], bool]) -> list[Any]:
        return entry_arguments(api, self.parts.entry, self.settings, decide)

    # ---- running -------------------------------------------------------------------------------------

    def run(self) -> RunResult:
        parts, machine = self.parts, self.machine
        allow_deep_stack()
        previous_limit = sys.getrecursionlimit()
        machine.activate()
        states = start_states(machine, parts.tree, parts.entry.name, self._arguments)
        parts.listener.on_phase("reading the program")
        with parts.budget.charged(READING):
            parts.table.lines_total()
        self.worklist.add(self.techniques.begin(states))
        parts.listener.on_phase("")
        self.figures.restart()
        parts.listener.on_progress(self.figures.progress())
        if Exploration.one_before:
            gc.collect()
            release_memory()
        Exploration.one_before = True
        gc.freeze()
        gc.disable()
        try:
            return self._result(self._explore(previous_limit))
        finally:
            # The collector stays off until the result is made: it would visit every object of every state.
            gc.enable()
            gc.unfreeze()

    def _explore(self, recursion_limit: int) -> float:
        """All states; returns the seconds of CPU that took."""
        housekeeping = self.housekeeping
        try:
            with Ticker(self.machine.trap, housekeeping), HandledSignals(housekeeping.interrupt):
                explore_states(self.worklist, self.turns, self.techniques, housekeeping, self._out_of_memory)
        finally:
            explored = self.figures.cpu_seconds
            sys.setrecursionlimit(recursion_limit)
            self.machine.deactivate()
        return explored

    def _drop_caches(self) -> None:
        self.space.evict(0)
        self.machine.namespace.forget_symbolic()
        self.machine.addresses.forget_symbolic()
        expr.collect()

    def _out_of_memory(self, state: State) -> None:
        self._give_up(state, OUT_OF_MEMORY)

    def _give_up(self, state: State, why: str) -> None:
        """A state that waited will not be explored further."""
        self.techniques.given_up(state)
        self.reporter.given_up(state, why)

    # ---- the result ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Give up what still waits, and write what is left to write."""
        stopped = self.housekeeping.stopped
        self.parts.budget.begin_finishing()
        if stopped is not None:
            for state in self.worklist.drain():
                self._give_up(state, stopped)
        self.techniques.finish()
        self.tree.flush()
        if self.parts.rows is not None:
            self.parts.rows.write()
        self.parts.listener.on_stats(self.figures.stats_row())

    def _result(self, explored: float) -> RunResult:
        parts, reporter, counters = self.parts, self.reporter, self.machine.counters.N
        left = len(self.worklist)
        parts.listener.on_phase("writing the tests and results that are left")
        with parts.budget.charged("finishing"):
            self._finish()
        tally = reporter.tally
        result = RunResult(
            complete=not tally.losses and not left,
            paths_exit=tally.exits,
            paths_error=tally.failures,
            paths_total=tally.total,
            paths_left=tally.left,
            tests=reporter.tests,
            errors=reporter.errors,
            states_explored=self.tree.states,
            states_waiting_max=self.turns.waiting_max,
            instructions=self.figures.instructions,
            coverage=self.table.report(counters),
            queries=self.figures.queries(),
            timers={
                "explore": explored,
                "solver": self.figures.solver_seconds,
                **parts.budget.used(),
            },
            main_entered=self.machine.program.first_called.get("main"),
            unexplored=reporter.cut.unexplored(
                parts.program.module, parts.program.entry, self.table, counters
            ),
            checks=check_sites(self._checks(), self.table, counters, tally.exits > 0),
            defects=reporter.defects,
            stopped=self.housekeeping.stopped,
            searcher=self.worklist.description,
            paths_multiplicity=tally.multiplicity,
            paths_exact=reporter.exact_paths,
            reductions=self.techniques.figures(),
            unknown_calls=parts.unknown.as_json() if parts.unknown is not None else {},
            fixed_answers=reporter.fixed_answers | library_answers(self.machine.program.first_called),
            uninitialised=self._uninitialised(),
            targets=[] if parts.targets is None else parts.targets.results(counters, tally.losses),
        )
        for kind, locations in tally.losses.as_dict().items():
            for location, count in locations.items():
                result.lose(kind, location, count)
        return result

    def _checks(self) -> list[Check]:
        """The checks that the run made; uninitialised memory may be taken to hold anything, or zero."""
        made = self.settings.errors.chosen
        error = self.settings.execution.uninitialised == "error"
        return [check for check in made if error or check.name != "uninitialised"]

    def _uninitialised(self) -> dict[str, Any]:
        """What was assumed of uninitialised memory and locals, as `run.json` tells it."""
        unknowns = self.machine.unknowns
        if unknowns is None:
            return {} if self.settings.execution.uninitialised == "error" else {"values": "zero"}
        return {"values": "symbolic", "decided_on": dict(sorted(unknowns.decisions.items()))}


def allow_deep_stack() -> None:
    """Deep recursion of a program may also nest calls within the Python interpreter itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


def prepare(
    program: LoadedProgram,
    settings: ExploreSettings,
    listener: Listener,
    log_dir: Path | None = None,
    techniques: TechniqueMaker = NO_TECHNIQUES,
    started: float | None = None,
) -> Exploration:
    """An exploration that is ready to run; queries go to files in `log_dir`. Its time counts from `started`,
    on the monotonic clock, or from now."""
    parts = build_parts(program, settings, listener, log_dir, started=started, kind=techniques.machine)
    return Exploration(parts, techniques.make(parts))


def explore(
    program: LoadedProgram,
    settings: ExploreSettings,
    listener: Listener,
    log_dir: Path | None = None,
    techniques: TechniqueMaker = NO_TECHNIQUES,
    started: float | None = None,
) -> RunResult:
    """Explore a program; everything found goes to the listener at once. Its time counts as `prepare` says."""
    return prepare(program, settings, listener, log_dir, techniques, started).run()

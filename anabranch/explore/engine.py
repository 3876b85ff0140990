"""One exploration from beginning to end: builds the parts, runs the loop, sums up."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from anabranch import expr
from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.distance import DistanceGraph
from anabranch.environment import EXTERNAL_GLOBALS, MODELS, OVERRIDES
from anabranch.explore.coverage import BlockTable
from anabranch.explore.distance import UncoveredDistance, UncoveredMeasure
from anabranch.explore.entry import entry_arguments
from anabranch.explore.limits import Limits, LimitSettings, least_promising, resident_bytes
from anabranch.explore.loop import explore_states
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.protocols import NoMerge, NoPrune, Search
from anabranch.explore.reporter import Reporter, ReportSettings
from anabranch.explore.search import SearchContext, make_search
from anabranch.explore.tree import ExecutionTree, Row
from anabranch.explore.tree_rows import Details, node_rows
from anabranch.ir.module import Function, Module
from anabranch.machine import Machine, MachineSettings, ModelApi, State
from anabranch.machine.clock import Ticker
from anabranch.report.events import Listener, Progress
from anabranch.report.result import Ratio, RunResult
from anabranch.report.stats import StatsRow
from anabranch.solver import (
    Backend,
    BitwuzlaBackend,
    CrossChecked,
    QueryLog,
    SliceSpace,
    Z3Backend,
)

NO_BATCH = 1 << 60
ROWS_KEPT = 400_000  # rows of the execution tree in memory before they are written
STATS_SECONDS = 1.0
PROGRESS_SECONDS = 0.2


class ExploreSettings(ReportSettings, Protocol):
    """The settings of an exploration; `RunSettings` of the command line has them all."""

    @property
    def search(self) -> tuple[str, ...]: ...
    @property
    def seed(self) -> int: ...
    @property
    def batch_forks(self) -> int: ...
    @property
    def batch_instructions(self) -> int: ...
    @property
    def max_time(self) -> float | None: ...
    @property
    def max_memory(self) -> int: ...
    @property
    def max_instructions(self) -> int | None: ...
    @property
    def max_forks(self) -> int | None: ...
    @property
    def max_depth(self) -> int | None: ...
    @property
    def max_tests(self) -> int | None: ...
    @property
    def max_solver_time(self) -> float | None: ...
    @property
    def max_stack_frames(self) -> int: ...
    @property
    def max_len(self) -> int: ...
    @property
    def interpret(self) -> bool: ...
    @property
    def check_solver(self) -> bool: ...
    @property
    def log_queries(self) -> bool: ...


class LoadedProgram(Protocol):
    """What the front end gives."""

    @property
    def module(self) -> Module: ...
    @property
    def entry(self) -> str: ...


def find_model(name: str, api: ModelApi) -> Any:
    """The environment's model of a C function, bound to a machine."""
    found = MODELS.get(name)
    if found is None:
        return None
    function = found.function

    def call(*arguments: Any) -> Any:
        if not found.accepts(len(arguments)):
            api.error("bad_call", f"{name} called with {len(arguments)} arguments")
        return function(api, *arguments)

    return call


class Exploration:
    """The parts of a run and its bookkeeping."""

    def __init__(
        self, program: LoadedProgram, settings: ExploreSettings, listener: Listener, log_dir: Path | None = None
    ) -> None:
        self.program = program
        self.settings = settings
        self.listener = listener
        expr.reset()
        self.rows: list[list[Row]] = []
        self.row_count = 0
        self.tree = ExecutionTree(self._keep_rows)
        self.table = BlockTable(program.module, is_user_function, after_calls=True)
        self.space = SliceSpace(make_backend(settings, log_dir))
        self.reporter = Reporter(settings, listener, self.tree)
        self.machine = Machine(
            program.module,
            self.table,
            self.tree,
            self.reporter,
            self.space,
            find_model,
            OVERRIDES,
            EXTERNAL_GLOBALS,
            MachineSettings(
                check_overflow="overflow" in settings.checks,
                max_stack_frames=settings.max_stack_frames,
                max_forks=settings.max_forks,
                max_depth=settings.max_depth,
                only_interpret=settings.interpret,
            ),
        )
        counters = self.machine.counters.N
        self.new_coverage = NewCoverage(counters, self.table.is_user_code)
        self.reporter.machine = self.machine
        self.reporter.new_coverage = self.new_coverage
        self.reporter.on_tick = self.look
        self.search = self._make_search()
        self.limits = Limits(
            LimitSettings(
                time=settings.max_time,
                instructions=settings.max_instructions,
                tests=settings.max_tests,
                memory=settings.max_memory * 1_000_000 if settings.max_memory else None,
            )
        )
        self.batch = NO_BATCH if settings.search == ("dfs",) else settings.batch_forks
        self.stopped: str | None = None
        self.waiting_max = 0
        self.picks = 0
        self._details = Details(self.table.describe, expr.short_text)
        self._next_progress = self._next_stats = 0.0
        self._started = time.monotonic()
        self._cpu_started = time.process_time()
        self.look_due = False

    def _make_search(self) -> Search[State]:
        counters = self.machine.counters.N

        def callers(state: State) -> Iterator[int]:
            k = state.continuation
            while k[1] is not None:
                site = k[1]
                yield site.unit.counters.segments[site.block, 0]
                k = k[0]

        def graph() -> DistanceGraph:
            return DistanceGraph(build_call_graph(self.program.module, [self.program.entry]))

        distance: UncoveredDistance[State] = UncoveredDistance(
            self.new_coverage, UncoveredMeasure(self.table, counters, graph), callers
        )
        order = TopologicalOrder(self.table)
        context: SearchContext[State] = SearchContext(
            seed=self.settings.seed,
            tree=self.tree,
            counters=counters,
            distance=distance,
            order_key=order,
        )
        return make_search(self.settings.search, context)

    # ---- the machine as the loop sees it -------------------------------------------------------------

    def advance(self, state: State) -> Sequence[State]:
        """Run a state to where control comes back; it comes last among its successors."""
        self.picks += 1
        trap = self.machine.trap
        trap.begin_turn(
            self.settings.batch_instructions if len(self.search) else None, self.settings.max_instructions
        )
        own, siblings = self.machine.run(state, self.batch)
        if own is not None:
            if self.new_coverage.check():
                own.covered_new = True
                own.instructions_since_new = 1
            siblings.append(own)
        waiting = len(self.search) + len(siblings)
        if waiting > self.waiting_max:
            self.waiting_max = waiting
        return siblings

    # ---- looking around ------------------------------------------------------------------------------

    def go_on(self) -> bool:
        if self.look_due or self.settings.max_tests is not None or self.settings.max_instructions is not None:
            self.look()
        return self.stopped is None

    def look(self) -> None:
        """Now and then: limits, memory, progress, statistics."""
        self.look_due = False
        if self.stopped is None:
            self.stopped = self.limits.check(self)
        if self.stopped is not None:
            self.machine.trap.stop_now = True
        now = time.monotonic()
        if now >= self._next_progress:
            self._next_progress = now + PROGRESS_SECONDS
            self._save_memory()
            self.listener.on_progress(self.progress())
        if now >= self._next_stats:
            self._next_stats = now + STATS_SECONDS
            self.listener.on_stats(self.stats_row())

    def _save_memory(self) -> None:
        """End the least promising waiting states if memory runs short; each one is counted."""
        count = self.limits.states_to_end(len(self.search))
        if not count:
            return
        self.space.evict(0)
        self.machine.namespace.forget_symbolic()
        for state in least_promising(self.search.states(), count):
            self.search.remove(state)
            self.reporter.dropped("out-of-memory", state.node, state.place)
        gc.collect()

    def interrupt(self, number: int, frame: object) -> None:
        """Ctrl-C or SIGTERM: stop at the next block; a second one breaks off at once."""
        if self.stopped in ("interrupted", "terminated"):
            raise KeyboardInterrupt
        self.stopped = "interrupted" if number == signal.SIGINT else "terminated"
        self.machine.trap.stop_now = True
        self.machine.trap.arm()

    # ---- totals --------------------------------------------------------------------------------------

    def _queries(self) -> dict[str, Any]:
        """Conditions decided, by outcome and by who decided them."""
        stats = self.space.stats
        asked = [stats.timers[name].count for name in ("backend", "check") if name in stats.timers]
        return {
            "total": stats.forced + stats.split,
            "valid": stats.forced,
            "invalid": stats.split,
            "cex": sum(asked),
            "by": stats.as_dict(),
        }

    @property
    def instructions(self) -> int:
        return self.machine.counters.instructions()

    @property
    def forks(self) -> int:
        return self.machine.decider.forks

    @property
    def tests(self) -> int:
        return self.reporter.tests

    @property
    def solver_seconds(self) -> float:
        return sum(timer.seconds for timer in self.space.stats.timers.values())

    def progress(self) -> Progress:
        seconds = time.monotonic() - self._started
        counters = self.machine.counters.N
        branches = self.table.branches(counters)
        reporter = self.reporter
        instructions = self.instructions
        covered = len(self.table.lines_covered(counters))
        return Progress(
            seconds=seconds,
            paths_exit=reporter.exits,
            paths_error=reporter.failures,
            paths_total=reporter.exits + reporter.failures + reporter.early,
            tests=reporter.tests,
            states_explored=self.tree.states,
            states_waiting=len(self.search),
            instructions=instructions,
            instructions_per_second=instructions / seconds if seconds else 0.0,
            lines=Ratio(covered, self.table.lines_total()),
            branches=Ratio(branches.sides_covered, branches.sides_total),
            solver_share=min(1.0, self.solver_seconds / seconds) if seconds else 0.0,
            errors=len(reporter.errors),
            memory_bytes=resident_bytes(),
            losses=reporter.losses.total,
        )

    def stats_row(self) -> StatsRow:
        counters = self.machine.counters.N
        branches = self.table.branches(counters)
        covered, total = self.table.instruction_coverage(counters)
        timers = self.space.stats.timers
        asked = [timers[name] for name in ("backend", "check") if name in timers]
        ends = self.reporter
        return StatsRow(
            instructions=self.instructions,
            full_branches=branches.full,
            partial_branches=branches.partial,
            num_branches=branches.total,
            user_time=time.process_time() - self._cpu_started,
            num_states=len(self.search),
            malloc_usage=resident_bytes(),
            queries=sum(timer.count for timer in timers.values()),
            solver_queries=sum(timer.count for timer in asked),
            wall_time=time.monotonic() - self._started,
            covered_instructions=covered,
            uncovered_instructions=total - covered,
            query_time=self.solver_seconds,
            solver_time=sum(timer.seconds for timer in asked),
            states=self.tree.states,
            branches={"Conditional": self.forks},
            ends={"Exit": ends.exits, "ProgramError": ends.failures, "Early": ends.early},
        )

    # ---- the execution tree --------------------------------------------------------------------------

    def _keep_rows(self, rows: list[Row]) -> None:
        self.rows.append(rows)
        self.row_count += len(rows)
        if self.row_count >= ROWS_KEPT:
            self.write_rows()

    def write_rows(self) -> None:
        rows, self.rows, self.row_count = self.rows, [], 0
        for batch in rows:
            self.listener.on_tree(node_rows(batch, self.table.text_line), self._details.rows(batch))

    # ---- the whole -----------------------------------------------------------------------------------

    def run(self) -> RunResult:
        machine, search = self.machine, self.search
        function = self.program.module.functions[self.program.entry]
        previous_limit = sys.getrecursionlimit()
        machine.activate()
        state = machine.start(
            function.name, lambda api: entry_arguments(api, function, self.settings.max_len)
        )
        state.node = self.tree.start()
        state.number = state.node.number
        search.add([state])
        self._started, self._cpu_started = time.monotonic(), time.process_time()
        self.listener.on_progress(self.progress())
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            with Ticker(machine.trap, self), HandledSignals(self.interrupt):
                explore_states(search, self, NoMerge(), NoPrune(), self.go_on)
        finally:
            explored = time.process_time() - self._cpu_started
            gc.enable()
            gc.unfreeze()
            sys.setrecursionlimit(previous_limit)
            machine.deactivate()
        return self._result(explored)

    def _result(self, explored: float) -> RunResult:
        reporter = self.reporter
        left = len(self.search)
        if self.stopped is not None:
            for state in list(self.search.states()):
                self.search.remove(state)
                reporter.dropped(self.stopped, state.node, state.place)
        self.tree.flush()
        self.write_rows()
        self.listener.on_stats(self.stats_row())
        result = RunResult(
            complete=not reporter.losses and not left,
            paths_exit=reporter.exits,
            paths_error=reporter.failures,
            paths_total=reporter.exits + reporter.failures + reporter.early,
            tests=reporter.tests,
            errors=reporter.errors,
            states_explored=self.tree.states,
            states_waiting_max=self.waiting_max,
            instructions=self.instructions,
            coverage=self.table.report(self.machine.counters.N),
            queries=self._queries(),
            timers={"explore": explored, "solver": self.solver_seconds},
            stopped=self.stopped,
            searcher=self.search.description,
        )
        for kind, places in reporter.losses.as_dict().items():
            for place, count in places.items():
                result.lose(kind, place, count)
        return result


class TopologicalOrder:
    """Sorts states by place: deeper call stacks first, then blocks in reverse postorder."""

    def __init__(self, table: BlockTable) -> None:
        self._table = table
        self._ranks: dict[int, int] = {}

    def __call__(self, state: State) -> tuple[int, int]:
        rank = self._ranks.get(state.place)
        if rank is None:
            function = self._table.function_of(state.place)
            order = build_cfg(function).order
            block = self._table.block_of(state.place)
            rank = self._ranks[state.place] = order.index(block) if block in order else len(order)
        return (-state.continuation[2], rank)


class HandledSignals:
    """Sends SIGINT and SIGTERM to a handler, where that is possible (the main thread)."""

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handler)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def is_user_function(function: Function) -> bool:
    """Every function with source is the user's own as long as no library is linked in."""
    return function.subprogram is not None


def make_backend(settings: ExploreSettings, log_dir: Path | None) -> Backend:
    """The solver behind the chain, with a second opinion and a log of queries where wanted."""
    backend: Backend = BitwuzlaBackend(seconds=settings.max_solver_time)
    if settings.check_solver:
        backend = CrossChecked(backend, Z3Backend(), log_dir)
    if settings.log_queries and log_dir is not None:
        backend = QueryLog(backend, log_dir / "queries")
    return backend


def explore(
    program: LoadedProgram, settings: ExploreSettings, listener: Listener, log_dir: Path | None = None
) -> RunResult:
    """Explore a program; everything found goes to the listener at once, queries to files in `log_dir`."""
    return Exploration(program, settings, listener, log_dir).run()

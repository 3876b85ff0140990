"""Builds the parts of an exploration from its settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.distance import DistanceGraph
from anabranch.environment import EXTERNAL_GLOBALS, MODELS, OVERRIDES
from anabranch.environment.failing import ALLOCATORS, may_fail
from anabranch.environment.output import TO_FILES
from anabranch.explore.backends import BACKENDS
from anabranch.explore.budget import MEASURING, Budget
from anabranch.explore.checks import makes
from anabranch.explore.coverage import BlockTable
from anabranch.explore.distance import Distances, UncoveredDistance, UncoveredMeasure
from anabranch.explore.leaks import watches_heap
from anabranch.explore.library import is_user_function
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.observers import LISTENERS, Observers, PathEvents
from anabranch.explore.postponed import PostponedLast
from anabranch.explore.protocols import Search
from anabranch.explore.reporter import Reporter
from anabranch.explore.search import UNREACHABLE, SearchContext, make_search
from anabranch.explore.search.registry import DEFAULT
from anabranch.explore.search.target import WITH_TARGETS, OutOfReachLast
from anabranch.explore.settings import CONTRACTS, STOP, ExploreSettings, LoadedProgram
from anabranch.explore.target_lines import find_lines
from anabranch.explore.targets import Targets
from anabranch.explore.tree import ExecutionTree
from anabranch.explore.tree_rows import RowWriter
from anabranch.ir.module import Function
from anabranch.machine import Machine, MachineSettings, ModelApi, Observer, State, Where
from anabranch.machine.state import callers
from anabranch.report.events import Listener
from anabranch.solver import Backend, CrossChecked, QueryLimits, QueryLog, SliceSpace
from anabranch.solver.config import SolverConfig, read_config
from anabranch.solver.configured import make_backend as configured_backend
from anabranch.solver.corpus import SUFFIX, CorpusWriter
from anabranch.solver.small_domains import SmallDomains

if TYPE_CHECKING:  # what few runs use is loaded by those that do
    from anabranch.environment.unknown import UnknownFunctions
    from anabranch.explore.test_writer import Answers

NEVER_WALK = frozenset(("dfs", "bfs", "random-state", "rounds"))
"""Search orders that do not need the tree of live paths, which costs about a tenth of a small turn."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is made of, but for its techniques, which are given these parts."""

    program: LoadedProgram
    settings: ExploreSettings
    listener: Listener
    budget: Budget
    rows: RowWriter | None
    """Writes the execution tree, if the settings want it."""
    tree: ExecutionTree
    table: BlockTable
    space: SliceSpace
    observers: Observers
    """Who is told what happens to paths, the reporter first."""
    path_events: PathEvents
    """What the reporter tells of the ends of paths."""
    reporter: Reporter
    machine: Machine
    unknown: UnknownFunctions | None
    """What stands for functions without a body, if the settings want any."""
    new_coverage: NewCoverage
    fruitless: dict[int, int]
    """Turns that covered nothing new, by the block they began at."""
    distance: UncoveredDistance[State]
    """How far a state is from code that is not yet covered."""
    search: Search[State]
    """The order that the settings name, with no technique around it."""
    targets: Targets | None = None
    """The lines that the run aims at, if it does."""

    @property
    def entry(self) -> Function:
        """The function that the program starts in."""
        return self.program.module.functions[self.program.entry]


def build_parts(
    program: LoadedProgram,
    settings: ExploreSettings,
    listener: Listener,
    log_dir: Path | None = None,
    path_events: PathEvents | None = None,
    started: float | None = None,
    kind: type[Machine] = Machine,
) -> Parts:
    """Build the parts of a run; queries go to files in `log_dir` where they are logged. `path_events`: if
    somebody listens already. `started`: when the command did, on the monotonic clock, if not now. `kind`: of
    the machine. Raises TargetError if there is no line that the settings aim at."""
    lines = find_lines(program.module, settings.search.targets)
    orders = search_orders(settings)
    expr.reset()
    budget = Budget(settings.limits, started=started)
    table = BlockTable(program.module, is_user_function, after_calls=True)
    rows = RowWriter(listener, table, budget.rows_kept) if settings.report.exec_tree else None
    tree = ExecutionTree(
        None if rows is None else rows.keep,
        None if rows is None else rows.merged_into,
        walked=not NEVER_WALK.issuperset(orders),
    )
    space = make_space(program, settings, budget.queries(), log_dir)
    observers = Observers()
    machine = make_machine(program, settings, table, tree, observers, space, kind)
    unknown = make_unknown(machine, settings)
    events = PathEvents() if path_events is None else path_events
    for listen in LISTENERS:
        listen(events)
    new_coverage = NewCoverage(machine.counters.N, table.is_user_code, events.covered)
    reporter = Reporter(
        machine,
        table,
        tree,
        settings,
        listener,
        events,
        new_coverage,
        budget,
        make_answers(unknown, settings),
    )
    observers.all.append(reporter)
    fruitless: dict[int, int] = {}
    distance = make_distance(program, table, machine.counters.N, new_coverage, budget)
    targets = Targets(lines, program.module, program.entry, table) if lines else None
    context: SearchContext[State] = SearchContext(
        seed=settings.search.seed,
        tree=tree,
        counters=machine.counters.N,
        distance=distance,
        target_distance=targets.distance if targets is not None else lambda state: UNREACHABLE,
        fruitless=fruitless,
        progress=lambda: new_coverage.version + len(reporter.errors),
        order_key=TopologicalOrder(table),
    )
    search: Search[State] = PostponedLast(make_search(orders, context), budget.hard_turns)
    if targets is not None:
        search = OutOfReachLast(search, targets.may_reach, targets.exhausted)
        events.failed.append(targets.failed)
    return Parts(
        program, settings, listener, budget, rows, tree, table, space, observers, events, reporter, machine,
        unknown, new_coverage, fruitless, distance, search, targets,
    )  # fmt: skip


def search_orders(settings: ExploreSettings) -> tuple[str, ...]:
    """The names of the orders that a run has."""
    orders = settings.search.orders
    return WITH_TARGETS if settings.search.targets and orders == DEFAULT else orders


def find_model(name: str, api: ModelApi, settings: ExploreSettings) -> Any:
    """The environment's model of a C function, bound to a machine."""
    wanted, whole = settings.execution, None
    if wanted.externals == CONTRACTS and name in TO_FILES:
        return None
    if wanted.strings == "whole":
        from anabranch.environment.whole import whole_model

        whole = whole_model(name, wanted.string_limit)
    found = MODELS.get(name)
    if found is None:
        return None if whole is None else partial(whole, api)
    function = whole or found.function

    def call(*arguments: Any) -> Any:
        api.calls += 1
        if not found.accepts(len(arguments)):
            wrong = f"{name} called with {len(arguments)} arguments instead of {found.takes()}"
            if name.startswith("klee_"):
                api.user_error(wrong)
            api.error("bad-call", wrong)
        return function(api, *arguments)

    if wanted.failing_allocations and name in ALLOCATORS:
        return may_fail(name, call, api, lambda: _is_users(api.machine.where()))
    return call


def _is_users(where: Where | None) -> bool:
    return where is not None and is_user_function(where.function)


def make_machine(
    program: LoadedProgram,
    settings: ExploreSettings,
    table: BlockTable,
    tree: ExecutionTree,
    observer: Observer,
    space: SliceSpace,
    kind: type[Machine] = Machine,
) -> Machine:
    """The machine, with the environment's models."""
    return kind(
        program.module,
        table,
        tree,
        observer,
        space,
        lambda name, api: find_model(name, api, settings),
        OVERRIDES,
        EXTERNAL_GLOBALS,
        MachineSettings(
            check_overflow=makes("overflow", settings.errors.checks, settings.errors.no_checks),
            max_stack_frames=settings.limits.stack_frames,
            max_forks=settings.limits.forks,
            max_depth=settings.limits.depth,
            only_interpret=settings.execution.interpret,
            release_at_end=watches_heap(settings.errors.checks),
            unknown_functions=settings.execution.externals != STOP,
            uninitialised=settings.execution.uninitialised,
            capacity=settings.execution.capacity,
        ),
    )


def make_unknown(machine: Machine, settings: ExploreSettings) -> UnknownFunctions | None:
    """What stands for functions without a body, if the settings want any."""
    given = settings.execution
    if given.externals == STOP:
        return None
    from anabranch.contracts import read_contracts, shipped_contracts
    from anabranch.environment.unknown import UnknownFunctions, UnknownObjects, UnknownSettings

    contracts = shipped_contracts() if given.externals == CONTRACTS else {}
    for path in given.summaries:
        contracts |= read_contracts(path)
    wanted = UnknownSettings(given.depth, given.buffer_size, given.alias)
    return UnknownFunctions(UnknownObjects(machine, wanted), contracts, given.externals == CONTRACTS)


def make_answers(unknown: UnknownFunctions | None, settings: ExploreSettings) -> Answers | None:
    """Tells what functions without a body answered on a path, and which allocations failed."""
    if unknown is None and not settings.execution.failing_allocations:
        return None
    from anabranch.environment.unknown import answers_of

    return partial(answers_of, objects=None if unknown is None else unknown.objects)


def make_space(
    program: LoadedProgram, settings: ExploreSettings, limits: QueryLimits, log_dir: Path | None
) -> SliceSpace:
    """The chain that decides conditions. ConfigError if the settings name no configuration."""
    inner, config = chosen_solver(settings, limits)
    if settings.solver.race:
        from anabranch.solver.race import Racing  # rarely asked for

        inner = Racing(inner, limits, settings.solver.race)
    backend = SmallDomains(wrapped_backend(inner, program, settings, log_dir), limits)
    return SliceSpace(backend, limits=limits, config=config)


def chosen_solver(settings: ExploreSettings, limits: QueryLimits) -> tuple[Backend, SolverConfig]:
    """The solver that the settings name, and the configuration of what is around it."""
    place = settings.solver.config
    if not place:
        return BACKENDS.find(settings.solver.name)(limits), SolverConfig()
    config = read_config(place)
    return configured_backend(config, limits), config


def wrapped_backend(
    backend: Backend, program: LoadedProgram, settings: ExploreSettings, log_dir: Path | None
) -> Backend:
    """The solver with a second opinion and a log of queries where wanted."""
    if settings.solver.check:
        second = "z3" if backend.name != "z3" else "bitwuzla"
        backend = CrossChecked(backend, BACKENDS.find(second)(QueryLimits()), log_dir)
    if settings.solver.log_queries and log_dir is not None:
        name = Path(program.module.source_filename).name
        corpus = CorpusWriter(log_dir / f"queries{SUFFIX}", "explore", name, program.entry, backend.name)
        backend = QueryLog(backend, corpus)
    return backend


def make_distance(
    program: LoadedProgram,
    table: BlockTable,
    counters: Sequence[int],
    new_coverage: NewCoverage,
    budget: Budget,
) -> UncoveredDistance[State]:
    """Distances to uncovered code; the graph is built when somebody asks for one."""

    def calling_blocks(state: State) -> Iterator[int]:
        for continuation in callers(state.continuation):
            site = continuation[1]
            yield site.unit.counters.segments[site.block, 0]

    def graph() -> DistanceGraph:
        return DistanceGraph(build_call_graph(program.module, [program.entry]))

    measure = UncoveredMeasure(table, counters, graph)

    def measured() -> Distances:
        with budget.charged(MEASURING):
            return measure()

    return UncoveredDistance(new_coverage, measured, calling_blocks, may_measure=budget.may_measure)


class TopologicalOrder:
    """Sorts states by location: deeper call stacks first, then blocks in reverse postorder."""

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

"""Builds the parts of an exploration from its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.distance import DistanceGraph
from anabranch.environment import EXTERNAL_GLOBALS, MODELS, OVERRIDES
from anabranch.environment.unknown import UnknownFunctions, UnknownObjects, UnknownSettings, read_summaries
from anabranch.environment.whole import whole_model
from anabranch.explore.checks import makes
from anabranch.explore.coverage import BlockTable
from anabranch.explore.distance import UncoveredDistance, UncoveredMeasure
from anabranch.explore.leaks import watches_heap
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.protocols import Search
from anabranch.explore.search import SearchContext, make_search
from anabranch.explore.settings import ExploreSettings, LoadedProgram
from anabranch.explore.tree import ExecutionTree
from anabranch.machine import Machine, MachineSettings, ModelApi, Observer, State
from anabranch.solver import Backend, BitwuzlaBackend, CrossChecked, QueryLog, SliceSpace, Z3Backend

GRACE = 1.0
"""Seconds that a query may go on after the time of the run is up."""
HARD_QUERIES = 0.1
"""The part of a limited time that hard queries may take together."""
HARD_QUERY = 0.01
"""The part of it that a single one may take."""


def find_model(name: str, api: ModelApi, settings: ExploreSettings) -> Any:
    """The environment's model of a C function, bound to a machine."""
    whole = whole_model(name, settings.string_limit) if settings.strings == "whole" else None
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

    return call


def make_machine(
    program: LoadedProgram,
    settings: ExploreSettings,
    table: BlockTable,
    tree: ExecutionTree,
    observer: Observer,
    space: SliceSpace,
) -> Machine:
    """The machine, with the environment's models."""
    return Machine(
        program.module,
        table,
        tree,
        observer,
        space,
        lambda name, api: find_model(name, api, settings),
        OVERRIDES,
        EXTERNAL_GLOBALS,
        MachineSettings(
            check_overflow=makes("overflow", settings.checks, settings.no_checks),
            max_stack_frames=settings.max_stack_frames,
            max_forks=settings.max_forks,
            max_depth=settings.max_depth,
            only_interpret=settings.interpret,
            release_at_end=watches_heap(settings.checks),
            unknown_functions=settings.externals == "fresh",
            uninitialised=settings.uninitialised,
        ),
    )


def make_unknown(machine: Machine, settings: ExploreSettings) -> UnknownFunctions | None:
    """What stands for functions without a body, if the settings want any."""
    if settings.externals != "fresh":
        return None
    summaries = read_summaries(settings.summaries) if settings.summaries is not None else {}
    wanted = UnknownSettings(settings.depth, settings.buffer_size, settings.alias)
    return UnknownFunctions(UnknownObjects(machine, wanted), summaries)


def query_seconds(settings: ExploreSettings) -> float | None:
    """What a single query may take: a small part of the time if that is limited, for there is other work."""
    limits = [settings.max_solver_time]
    if settings.max_time is not None:
        limits.append(HARD_QUERY * settings.max_time)
    return min((limit for limit in limits if limit is not None), default=None)


def make_backend(settings: ExploreSettings, log_dir: Path | None) -> Backend:
    """The solver behind the chain, with a second opinion and a log of queries where wanted."""
    end = None if settings.max_time is None else monotonic() + settings.max_time + GRACE
    backend: Backend = BitwuzlaBackend(
        seconds=query_seconds(settings),
        share=HARD_QUERIES if settings.max_time is not None else None,
        end=end,
    )
    if settings.check_solver:
        backend = CrossChecked(backend, Z3Backend(), log_dir)
    if settings.log_queries and log_dir is not None:
        backend = QueryLog(backend, log_dir / "queries")
    return backend


def make_order(
    program: LoadedProgram,
    settings: ExploreSettings,
    tree: ExecutionTree,
    table: BlockTable,
    counters: Sequence[int],
    new_coverage: NewCoverage,
    vain: Mapping[int, int],
) -> Search[State]:
    """The search order that the settings name."""

    def callers(state: State) -> Iterator[int]:
        k = state.continuation
        while k[1] is not None:
            site = k[1]
            yield site.unit.counters.segments[site.block, 0]
            k = k[0]

    def graph() -> DistanceGraph:
        return DistanceGraph(build_call_graph(program.module, [program.entry]))

    distance: UncoveredDistance[State] = UncoveredDistance(
        new_coverage, UncoveredMeasure(table, counters, graph), callers
    )
    order = TopologicalOrder(table)
    context: SearchContext[State] = SearchContext(
        seed=settings.seed,
        tree=tree,
        counters=counters,
        distance=distance,
        vain=vain,
        order_key=order,
    )
    return make_search(settings.search, context)


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

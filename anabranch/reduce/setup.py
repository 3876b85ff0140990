"""Puts the reductions that a run's settings ask for into its loop."""

from __future__ import annotations

from typing import Any, Protocol

from anabranch.explore.engine import NO_BATCH, Exploration, Operators, Reduce
from anabranch.explore.leaks import watches_heap
from anabranch.explore.protocols import NoMerge, NoPrune, Search
from anabranch.explore.search.plain import Dfs
from anabranch.explore.search.topological import Topological
from anabranch.machine import State
from anabranch.reduce.merging.dynamic import DynamicMerging
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.multiplicity import regression
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.race import PATIENCE, Contestant, Race
from anabranch.reduce.merging.regions import Regions
from anabranch.reduce.merging.share import TimeShare
from anabranch.reduce.merging.similarity import Everything, QceSimilarity, Similarity
from anabranch.reduce.merging.static import StaticMerging, in_rounds
from anabranch.reduce.merging.verify import Verifier
from anabranch.reduce.merging.waiting import Waiting
from anabranch.reduce.qce import QceParameters
from anabranch.reduce.zequivalence.install import ZParts, ZSettings
from anabranch.reduce.zequivalence.prune import ZEquivalence

# Work in about microseconds.
INSTRUCTION = 0.08
FORK = 35
CALL = 40  # of the environment's model
ACCESS = 120  # at a symbolic address
ALLOCATION = 25  # of an object, and what is done with it
PAGE = 0.35  # of a large object that dies
MERGED_TURN = 600
MERGED_EFFORT = 100


class ReduceSettings(ZSettings, Protocol):
    """The settings that techniques read."""

    @property
    def goal(self) -> str: ...
    @property
    def merge(self) -> str: ...
    @property
    def merging(self) -> str: ...
    @property
    def max_time(self) -> float | None: ...
    @property
    def qce_alpha(self) -> float: ...
    @property
    def qce_beta(self) -> float: ...
    @property
    def qce_kappa(self) -> int: ...
    @property
    def qce_zeta(self) -> float: ...


def reductions(settings: ReduceSettings) -> Reduce | None:
    """What the settings ask for, or None."""
    policy = merge_policy(settings)
    if policy == "none" and settings.zeq == "off":
        return None
    return lambda run: install(run, settings, policy)


def install(run: Exploration, settings: ReduceSettings, policy: str) -> Operators:
    """Twins are removed first, then what is left is merged (seed 000, section 5.5)."""
    zeq = ZParts(run, settings) if removes_twins(run, settings) else None
    if policy != "none":
        operators = install_merging(run, settings, policy, zeq)
    else:
        search = run.search if zeq is None else zeq.stack(run.search)
        operators = Operators(search, NoMerge(), NoPrune())
    return operators if zeq is None else zeq.into(operators)


def removes_twins(run: Exploration, settings: ReduceSettings) -> bool:
    """Does the contract of z-equivalence serve the goal, where it is asked for?"""
    if settings.zeq == "off":
        return False
    if settings.goal not in ZEquivalence.contract.serves:
        run.listener.on_warning(
            f"--zeq {settings.zeq} is not used: with --goal {settings.goal}, no path may be left out"
        )
        return False
    return True


def merge_policy(settings: ReduceSettings) -> str:
    """Which states to merge, by the goal unless the user says so."""
    if settings.merge != "default":
        return settings.merge
    if settings.zeq != "off" and settings.goal != "paths":
        return "none"  # joined inside a call, nothing would be left to compare behind it
    return "none" if settings.goal == "coverage" else "auto"


def install_merging(run: Exploration, settings: ReduceSettings, policy: str, zeq: ZParts | None) -> Operators:
    """Merging of states, static or dynamic."""
    machine, places = run.machine, Places()
    machine.merges_regions = True
    similarity = make_similarity(run, settings, policy)
    leaks = watches_heap(run.settings.checks)
    ledger = Ledger(lambda: run.space.backend.effort, lambda: machine.decider.forks, policy == "auto")

    def wrong(text: str) -> None:
        run.reporter.tally.losses.add("wrong merge")
        run.listener.on_warning(text)

    def figures() -> dict[str, Any]:
        found = {**merging.figures(), "ledger": ledger.rows(run.table.describe)}
        fit = regression(run.reporter.tally.counted)
        if fit is not None:
            found["paths"] = {"c1": fit[0], "c2": fit[1]}
        return found

    if is_dynamic(settings):
        driving = run.search if zeq is None else zeq.stack(run.search)
        share = None
        # Twins are found at stops, too, which are suspended while paths are not merged.
        if policy == "auto" and settings.max_time is not None and zeq is None:
            share = TimeShare(settings.max_time)
        dynamic = DynamicMerging(machine, places, similarity, driving, ledger, share=share)
        merging = Merging(dynamic.waiting, dynamic, similarity, run.space, run.tree, ledger, leaks)
        merging.plain = lambda: machine.stops.suspended
        merging.verifier = Verifier(run.space, wrong) if settings.verify_reductions else None
        regions = Regions(dynamic, run.space, run.tree)
        merging.search = regions
        return Operators(
            regions,
            merging,
            NoPrune(),
            lambda: {**figures(), "forwarded": dynamic.forwarded},
            lambda: dynamic.hurry,
        )
    waiting = Waiting(Topological(places.rank), similarity.key, ledger.turn)
    merging = Merging(waiting, waiting, similarity, run.space, run.tree, ledger, leaks)
    merging.verifier = Verifier(run.space, wrong) if settings.verify_reductions else None
    merging.in_rounds = in_rounds
    StaticMerging(machine, places, waiting, ledger)
    merging.plain = lambda: machine.stops.suspended
    run.batch = NO_BATCH
    order: Search[State] = waiting if zeq is None else zeq.flat(waiting)
    regions = Regions(order, run.space, run.tree)
    merging.search = regions
    if policy != "auto" or run.reporter.counts_exactly or zeq is not None:
        # Paths that are told apart, and twins that are removed, belong to one exploration.
        return Operators(regions, merging, NoPrune(), figures)

    def work(merged: bool) -> float:
        done = INSTRUCTION * machine.counters.instructions() + FORK * machine.decider.forks
        done += CALL * machine.api.calls + ACCESS * machine.addresses.resolved
        done += ALLOCATION * machine.memory.allocated + PAGE * machine.memory.dropped
        return done + merged * (MERGED_TURN * run.picks + MERGED_EFFORT * run.space.backend.effort)

    # In limited time not all may be seen: then the search order says what comes first, and each has its half.
    limited = settings.goal == "bugs" and settings.max_time is not None
    alone: Search[State] = run.search if limited else Dfs()
    machine.stops.suspend()  # the plain one begins
    regional = marks_regions(run)
    race = Race(
        Contestant(Regions(alone, run.space, run.tree) if regional else alone),
        Contestant(regions, machine.stops.resume, machine.stops.suspend),
        work,
        run.tree,
        run.reporter.owner,
        1 if limited else PATIENCE,
        regional,
    )
    merging.search = race
    return Operators(race, merging, NoPrune(), figures, finish=race.finish)


def marks_regions(run: Exploration) -> bool:
    """Does the program say itself where paths are to be joined?"""
    return "klee_close_merge" in run.program.module.functions


def is_dynamic(settings: ReduceSettings) -> bool:
    """Static merging is for runs that are to see everything; a limit on time says that one will not, unless
    its goal is to."""
    if settings.merging == "auto":
        return settings.goal == "coverage" and settings.max_time is not None
    return settings.merging == "dynamic"


def make_similarity(run: Exploration, settings: ReduceSettings, policy: str) -> Similarity:
    if policy == "all":
        return Everything()
    parameters = QceParameters(
        alpha=settings.qce_alpha,
        beta=settings.qce_beta,
        kappa=settings.qce_kappa,
        zeta=settings.qce_zeta,
    )
    return QceSimilarity(run.machine, parameters)

"""Puts the reductions that a run's settings ask for into its loop."""

from __future__ import annotations

from typing import Any, Protocol

from anabranch.explore.engine import NO_BATCH, Exploration, Operators, Reduce
from anabranch.explore.protocols import NoPrune
from anabranch.explore.search.plain import Dfs
from anabranch.explore.search.topological import Topological
from anabranch.reduce.merging.dynamic import DynamicMerging
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.multiplicity import regression
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.race import Contestant, Race
from anabranch.reduce.merging.regions import Regions
from anabranch.reduce.merging.similarity import Everything, QceSimilarity, Similarity
from anabranch.reduce.merging.static import StaticMerging, in_rounds
from anabranch.reduce.merging.verify import Verifier
from anabranch.reduce.merging.waiting import Waiting
from anabranch.reduce.qce import QceParameters

# Work in about microseconds.
INSTRUCTION = 0.25
FORK = 60
MERGED_TURN = 300
MERGED_EFFORT = 300


class ReduceSettings(Protocol):
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
    def verify_reductions(self) -> bool: ...
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
    return None if policy == "none" else lambda run: install_merging(run, settings, policy)


def merge_policy(settings: ReduceSettings) -> str:
    """Which states to merge, by the goal unless the user says so."""
    if settings.merge != "default":
        return settings.merge
    return "none" if settings.goal == "coverage" else "auto"


def install_merging(run: Exploration, settings: ReduceSettings, policy: str) -> Operators:
    """Merging of states, static or dynamic."""
    machine, places = run.machine, Places()
    machine.merges_regions = True
    similarity = make_similarity(run, settings, policy)
    leaks = "leak" in run.settings.checks
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
        dynamic = DynamicMerging(machine, places, similarity, run.search, ledger)
        merging = Merging(dynamic.waiting, dynamic, similarity, run.space, run.tree, ledger, leaks)
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
    static = StaticMerging(machine, places, waiting, ledger)
    merging.plain = lambda: not static.active
    run.batch = NO_BATCH
    regions = Regions(waiting, run.space, run.tree)
    merging.search = regions
    if policy != "auto" or run.reporter.counts_exactly:
        static.begin()
        return Operators(regions, merging, NoPrune(), figures)

    def work(merged: bool) -> float:
        done = INSTRUCTION * machine.counters.instructions() + FORK * machine.decider.forks
        return done + merged * (MERGED_TURN * run.picks + MERGED_EFFORT * run.space.backend.effort)

    race = Race(
        Contestant(Regions(Dfs(), run.space, run.tree) if marks_regions(run) else Dfs()),
        Contestant(regions, static.begin, static.pause),
        work,
        run.tree,
        run.reporter,
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

"""Puts the reductions that a run's settings ask for into its loop."""

from __future__ import annotations

from typing import Any, Protocol

from anabranch.explore.engine import NO_BATCH, Exploration, Operators, Reduce
from anabranch.explore.protocols import NoPrune
from anabranch.explore.search.topological import Topological
from anabranch.reduce.merging.dynamic import DynamicMerging
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.similarity import Everything, QceSimilarity, Similarity
from anabranch.reduce.merging.static import StaticMerging
from anabranch.reduce.merging.waiting import Waiting
from anabranch.reduce.qce import QceParameters


class ReduceSettings(Protocol):
    """The settings that techniques read."""

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
    if settings.merge == "none":
        return None
    return lambda run: install_merging(run, settings)


def install_merging(run: Exploration, settings: ReduceSettings) -> Operators:
    """Merging of states, static or dynamic."""
    machine, places = run.machine, Places()
    similarity = make_similarity(run, settings)
    leaks = "leak" in run.settings.checks
    if is_dynamic(settings):
        dynamic = DynamicMerging(machine, places, similarity, run.search)
        merging = Merging(dynamic.waiting, dynamic, similarity, run.space, run.tree, leaks)

        def figures() -> dict[str, Any]:
            return {**merging.figures(), "forwarded": dynamic.forwarded}

        return Operators(dynamic, merging, NoPrune(), figures, lambda: dynamic.hurry)
    waiting = Waiting(Topological(places.rank), similarity.key)
    merging = Merging(waiting, waiting, similarity, run.space, run.tree, leaks)
    StaticMerging(machine, places, waiting)
    run.batch = NO_BATCH
    return Operators(waiting, merging, NoPrune(), merging.figures)


def is_dynamic(settings: ReduceSettings) -> bool:
    """Static merging is for runs that are to see everything; a limit on time says that they will not."""
    if settings.merging == "auto":
        return settings.max_time is not None
    return settings.merging == "dynamic"


def make_similarity(run: Exploration, settings: ReduceSettings) -> Similarity:
    if settings.merge == "all":
        return Everything()
    parameters = QceParameters(
        alpha=settings.qce_alpha,
        beta=settings.qce_beta,
        kappa=settings.qce_kappa,
        zeta=settings.qce_zeta,
    )
    return QceSimilarity(run.machine, parameters)

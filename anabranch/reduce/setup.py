"""Puts the reductions that a run's settings ask for into its loop."""

from __future__ import annotations

from typing import Any, Protocol

from anabranch.explore.engine import NO_BATCH, Exploration, Operators, Reduce
from anabranch.explore.protocols import NoPrune
from anabranch.explore.search.topological import Topological
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.similarity import Everything, QceSimilarity, Similarity
from anabranch.reduce.merging.static import StaticMerging
from anabranch.reduce.merging.waiting import Waiting
from anabranch.reduce.qce import QceParameters


class ReduceSettings(Protocol):
    @property
    def merge(self) -> str: ...
    @property
    def merging(self) -> str: ...
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

    def install(run: Exploration) -> Operators:
        places = Places()
        similarity: Similarity = Everything()
        if settings.merge != "all":
            similarity = QceSimilarity(
                run.machine,
                QceParameters(
                    alpha=settings.qce_alpha,
                    beta=settings.qce_beta,
                    kappa=settings.qce_kappa,
                    zeta=settings.qce_zeta,
                ),
            )
        waiting = Waiting(Topological(places.rank), similarity.key)
        merging = Merging(waiting, similarity, run.space, run.tree, "leak" in run.settings.checks)
        StaticMerging(run.machine, places, waiting)
        run.batch = NO_BATCH

        def figures() -> dict[str, Any]:
            return {"merges": merging.merges, "refused": dict(merging.refused)}

        return Operators(waiting, merging, NoPrune(), figures)

    return install

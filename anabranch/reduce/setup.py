"""Puts the reductions that a run's settings ask for into its loop."""

from __future__ import annotations

from typing import Protocol

from anabranch.explore.engine import NO_BATCH, Exploration, Operators, Reduce
from anabranch.explore.protocols import NoPrune
from anabranch.explore.search.topological import Topological
from anabranch.reduce.merging.merge import Everything, Merging
from anabranch.reduce.merging.places import Places, stack_of
from anabranch.reduce.merging.static import StaticMerging
from anabranch.reduce.merging.waiting import Waiting


class ReduceSettings(Protocol):
    @property
    def merge(self) -> str: ...
    @property
    def merging(self) -> str: ...


def reductions(settings: ReduceSettings) -> Reduce | None:
    """What the settings ask for, or None."""
    if settings.merge == "none":
        return None

    def install(run: Exploration) -> Operators:
        places = Places()
        waiting = Waiting(Topological(places.rank), stack_of)
        merging = Merging(waiting, Everything(), run.space, run.tree, "leak" in run.settings.checks)
        StaticMerging(run.machine, places, waiting)
        run.batch = NO_BATCH

        def figures():
            return {"merges": merging.merges, "refused": dict(merging.refused)}

        return Operators(waiting, merging, NoPrune(), figures)

    return install

"""Builds the merging that a run's settings ask for: static, dynamic, regions, dual exploration."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.explore.build import Parts
from anabranch.explore.protocols import Search
from anabranch.explore.settings import ExploreSettings
from anabranch.explore.technique import Technique
from anabranch.machine import State
from anabranch.reduce.merging.dual import DualExploration
from anabranch.reduce.merging.dynamic import DynamicMerging
from anabranch.reduce.merging.policies import POLICIES, PolicyContext, Similarity
from anabranch.reduce.merging.regions import Regions
from anabranch.reduce.merging.settings import AUTO, MergingSettings
from anabranch.reduce.merging.static import StaticMerging
from anabranch.reduce.merging.tuning import MergeTuning
from anabranch.reduce.qce import QceParameters


def is_dynamic(settings: ExploreSettings) -> bool:
    """Static merging is for runs that explore everything. A limit on time says that the run will not, unless
    its goal asks for it."""
    asked = settings.group(MergingSettings).kind
    if asked == "auto":
        return settings.search.goal == "coverage" and settings.limits.time is not None
    return asked == "dynamic"


def merging(parts: Parts, policy: str, tuning: MergeTuning, shares: bool) -> StaticMerging | DynamicMerging:
    """Merging by a policy; `shares`: dynamic merging may leave a part of limited time to the plain order."""
    verify, gives_up = parts.settings.search.verify_reductions, policy == AUTO
    similarity = make_similarity(parts, policy)
    if is_dynamic(parts.settings):
        return DynamicMerging(parts, similarity, tuning, gives_up, verify, shares and gives_up)
    return StaticMerging(parts, similarity, tuning, gives_up, verify)


def make_similarity(parts: Parts, policy: str) -> Similarity:
    given = parts.settings.group(MergingSettings)
    parameters = QceParameters(alpha=given.alpha, beta=given.beta, kappa=given.kappa, zeta=given.zeta)
    return POLICIES.find(policy)(PolicyContext(parts.machine, parameters))


def regions(parts: Parts) -> Regions | None:
    """The regions that the program marks, if it marks any."""
    return Regions(parts) if "klee_close_merge" in parts.program.module.functions else None


def dual_exploration(
    parts: Parts, tuning: MergeTuning, others: Sequence[Technique], merging_kinds: tuple[type[Technique], ...]
) -> DualExploration | None:
    """Two lanes, unless paths are counted one by one or another technique than those that merge removes
    states: such counts and removals belong to a single exploration."""
    if parts.reporter.counts_exactly or not all(isinstance(one, (*merging_kinds, Regions)) for one in others):
        return None
    plain: Search[State] = parts.search
    merging: Search[State] = parts.search
    for one in others:
        merging = one.order(merging)
        if isinstance(one, Regions):
            plain = one.order(plain)
    return DualExploration(parts, plain, merging, tuning.lanes)

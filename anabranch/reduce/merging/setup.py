"""Which merging a run's settings ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from anabranch.explore.build import Parts
from anabranch.explore.protocols import Search
from anabranch.explore.search.plain import Dfs
from anabranch.explore.technique import Technique
from anabranch.machine import State
from anabranch.reduce.merging.dual import DualExploration
from anabranch.reduce.merging.dynamic import DynamicMerging
from anabranch.reduce.merging.regions import Regions
from anabranch.reduce.merging.similarity import POLICIES, PolicyContext
from anabranch.reduce.merging.static import StaticMerging
from anabranch.reduce.merging.tuning import MergeTuning
from anabranch.reduce.qce import QceParameters


class MergeSettings(Protocol):
    """The settings that merging reads."""

    @property
    def goal(self) -> str: ...
    @property
    def merge(self) -> str: ...
    @property
    def merging(self) -> str: ...
    @property
    def zeq(self) -> str: ...
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


def merge_policy(settings: MergeSettings) -> str:
    """Which states to merge, by the goal unless the user says so."""
    if settings.merge != "default":
        return settings.merge
    if settings.zeq != "off" and settings.goal != "paths":
        return "none"  # merged inside a call, nothing would be left to compare behind it
    return "none" if settings.goal == "coverage" else "auto"


def is_dynamic(settings: MergeSettings) -> bool:
    """Static merging is for runs that are to see everything; a limit on time says that one will not, unless
    its goal is to."""
    if settings.merging == "auto":
        return settings.goal == "coverage" and settings.max_time is not None
    return settings.merging == "dynamic"


def static_merging(parts: Parts, settings: MergeSettings, tuning: MergeTuning) -> StaticMerging | None:
    policy = merge_policy(settings)
    if policy == "none" or is_dynamic(settings):
        return None
    similarity = POLICIES[policy](policy_context(parts, settings))
    return StaticMerging(parts, similarity, tuning, policy == "auto", settings.verify_reductions)


def dynamic_merging(
    parts: Parts, settings: MergeSettings, tuning: MergeTuning
) -> DynamicMerging | None:
    policy = merge_policy(settings)
    if policy == "none" or not is_dynamic(settings):
        return None
    similarity = POLICIES[policy](policy_context(parts, settings))
    # Z-equivalent states are found at stops, too, which are suspended while paths are not merged.
    shares = policy == "auto" and settings.zeq == "off"
    return DynamicMerging(parts, similarity, tuning, policy == "auto", settings.verify_reductions, shares)


def regions(parts: Parts, settings: MergeSettings) -> Regions | None:
    """If the program says itself where paths are to be merged."""
    if merge_policy(settings) == "none" or "klee_close_merge" not in parts.program.module.functions:
        return None
    return Regions(parts)


def dual_exploration(
    parts: Parts, settings: MergeSettings, tuning: MergeTuning, others: Sequence[Technique]
) -> DualExploration | None:
    """Paths that are told apart, and states that are removed, belong to one exploration: then there is but
    the merging lane."""
    if merge_policy(settings) != "auto" or is_dynamic(settings):
        return None
    if parts.reporter.counts_exactly or not all(isinstance(one, StaticMerging | Regions) for one in others):
        return None
    # In limited time not all may be seen: then the search order says what comes first, and each has its half.
    limited = settings.goal == "bugs" and settings.max_time is not None
    plain: Search[State] = parts.search if limited else Dfs()
    merging: Search[State] = parts.search
    for one in others:
        merging = one.order(merging)
        if isinstance(one, Regions):
            plain = one.order(plain)
    shares = replace(tuning.lanes, patience=1) if limited else tuning.lanes
    return DualExploration(parts, plain, merging, shares)


def policy_context(parts: Parts, settings: MergeSettings) -> PolicyContext:
    parameters = QceParameters(
        alpha=settings.qce_alpha,
        beta=settings.qce_beta,
        kappa=settings.qce_kappa,
        zeta=settings.qce_zeta,
    )
    return PolicyContext(parts.machine, parameters)

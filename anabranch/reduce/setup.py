"""The techniques that a run's settings ask for, in the order in which the loop asks them.

A search order that replaces another (static merging's) comes first, those that wrap another come behind it:
callee first for z-equivalence, dynamic merging, regions that the program marks, the two lanes of dual
exploration. In every case z-equivalent states are removed first, and what is left is merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.explore.build import Parts
from anabranch.explore.engine import TechniqueMaker
from anabranch.explore.settings import STOP, ExploreSettings
from anabranch.explore.technique import REGISTERED, Technique
from anabranch.machine import Machine
from anabranch.reduce.merging.settings import AUTO, MergingSettings
from anabranch.reduce.redundancy.settings import AUTO as AUTO_DETECTION
from anabranch.reduce.redundancy.settings import RedundancySettings
from anabranch.reduce.zequivalence.settings import ZSettings

if TYPE_CHECKING:
    from anabranch.reduce.merging.tuning import MergeTuning


def reductions(settings: ExploreSettings, tuned: MergeTuning | None = None) -> TechniqueMaker:
    """Makes the techniques that the settings ask for and whose contract serves the goal."""

    def make(parts: Parts) -> list[Technique]:
        policy, removes = merge_policy(settings), settings.group(ZSettings).method != "off"
        made = redundancy(parts)
        if policy == "none" and not removes:
            return made + from_plugins(parts)
        return made + asked_for(parts, policy, removes, tuned, alone=not made)

    return TechniqueMaker(make, machine_for(settings))


def machine_for(settings: ExploreSettings) -> type[Machine]:
    """The machine that the techniques of a run observe."""
    if not detects(settings):
        return Machine
    from anabranch.machine.recording import RecordingMachine  # few runs use it

    return RecordingMachine


def detects(settings: ExploreSettings) -> bool:
    """Does a run use redundant state detection? By itself only where all may be explored: in limited time,
    most of the states that it drops would never have run."""
    how = settings.group(RedundancySettings).use
    wanted = how == "on" or (how == AUTO_DETECTION and settings.limits.time is None)
    return wanted and settings.search.goal == "coverage" and knows_all(settings)


def knows_all(settings: ExploreSettings) -> bool:
    """Does redundant state detection know all that a run with these settings does?"""
    return settings.execution.externals == STOP and not settings.execution.interpret


def asked_for(
    parts: Parts, policy: str, removes: bool, tuned: MergeTuning | None, alone: bool = True
) -> list[Technique]:
    """The techniques of a run that merges states or removes z-equivalent ones. `alone`: are redundant states
    not dropped as well? A summary leaves no tape behind, and no state may be dropped in one of two lanes."""
    # Loaded here, because most runs do neither: a tenth of the start of a command.
    from anabranch.reduce.loops.setup import merging_with_loops
    from anabranch.reduce.loops.summaries.technique import LoopSummaries
    from anabranch.reduce.loops.technique import LoopMerging
    from anabranch.reduce.merging import setup as merging
    from anabranch.reduce.merging import tuning
    from anabranch.reduce.merging.static import StaticMerging
    from anabranch.reduce.zequivalence.technique import ZEquivalence

    numbers = tuned or tuning.DEFAULT
    made: list[Technique] = []
    removes = removes and serves(ZEquivalence, parts)
    static = not merging.is_dynamic(parts.settings)
    loops = parts.settings.group(MergingSettings).loops
    if policy == "none":
        static = False
    elif static and loops != "off":
        # Z-equivalence compares what calls read, and a summary reads nothing that it would hear of.
        made += merging_with_loops(parts, policy, numbers, loops, summaries=alone and not removes)
    else:
        # Z-equivalent states are found at stops, too, which dynamic merging suspends while it shares.
        other = merging.merging(parts, policy, numbers, shares=alone and not removes)
        made.append(other)
        if loops in ("auto", "summaries") and alone and not removes:
            made.append(LoopSummaries(parts, other))
    if removes:
        # Callee first goes around the order of static merging, and dynamic merging around callee first.
        made.insert(len(made) if static else 0, ZEquivalence(parts, in_order=static))
    if policy != "none":
        held = merging.regions(parts)
        if held is not None:
            made.append(held)
    made += from_plugins(parts)
    dual = None
    if policy == AUTO and static and alone:
        dual = merging.dual_exploration(parts, numbers, made, (StaticMerging, LoopMerging, LoopSummaries))
    return made if dual is None else [*made, dual]


def redundancy(parts: Parts) -> list[Technique]:
    """Redundant state detection, if it is asked for."""
    settings = parts.settings
    if settings.group(RedundancySettings).use == "off":
        return []
    from anabranch.reduce.redundancy.technique import Redundancy

    if detects(settings):
        return [Redundancy(parts)]
    if settings.group(RedundancySettings).use == "on" and serves(Redundancy, parts):
        parts.listener.on_warning(
            "redundancy is not used: it knows nothing of unknown objects (--externals), nor of --interpret"
        )
    return []


def from_plugins(parts: Parts) -> list[Technique]:
    return [kind(parts) for kind in REGISTERED if serves(kind, parts)]


def merge_policy(settings: ExploreSettings) -> str:
    """Which states to merge, by the goal unless the user says so."""
    asked = settings.group(MergingSettings).policy
    if asked != "default":
        return asked
    if settings.group(ZSettings).method != "off" and settings.search.goal != "paths":
        return "none"  # states merged inside a call leave no two to compare behind it
    return "none" if settings.search.goal == "coverage" else AUTO


def serves(kind: type[Technique], parts: Parts) -> bool:
    """Does the contract of a technique that was asked for serve the goal?"""
    goal = parts.settings.search.goal
    if goal in kind.contract.serves:
        return True
    parts.listener.on_warning(
        f"{kind.name} is not used: it may lose {kind.contract.loses}, and --goal {goal} wants all of it"
    )
    return False

"""The techniques that a run's settings ask for, in the order in which the loop asks them.

A search order of its own that takes the place of another (static merging's) comes first, those that go around
another behind it: callee first for z-equivalence, dynamic merging, regions held by the program, the two lanes of
dual exploration. So z-equivalent states are removed first, and what is left is merged.
"""

from __future__ import annotations

from typing import Protocol

from anabranch.explore.build import Parts
from anabranch.explore.engine import MakeTechniques
from anabranch.explore.technique import Technique
from anabranch.reduce.merging import setup as merging
from anabranch.reduce.merging import tuning


class ReduceSettings(merging.MergeSettings, Protocol):
    """The settings that techniques read."""


def reductions(settings: ReduceSettings, tuned: tuning.MergeTuning | None = None) -> MakeTechniques:
    """Makes the techniques that the settings ask for and whose contract serves the goal."""
    numbers = tuned or tuning.DEFAULT

    def make(parts: Parts) -> list[Technique]:
        asked = [
            merging.static_merging(parts, settings, numbers),
            merging.dynamic_merging(parts, settings, numbers),
            merging.regions(parts, settings),
        ]
        made = [one for one in asked if one is not None and serves(one, parts, settings)]
        dual = merging.dual_exploration(parts, settings, numbers, made)
        return made if dual is None else [*made, dual]

    return make


def serves(technique: Technique, parts: Parts, settings: ReduceSettings) -> bool:
    """Does the contract of a technique that was asked for serve the goal?"""
    if settings.goal in technique.contract.serves:
        return True
    parts.listener.on_warning(
        f"{technique.name} is not used: with --goal {settings.goal}, nothing of this may be lost: "
        f"{technique.contract.loses}"
    )
    return False

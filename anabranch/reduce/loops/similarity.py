"""Which states are merged in pairs where loops become one state: those at exits wait for all others."""

from __future__ import annotations

from collections.abc import Hashable

from anabranch.machine import State
from anabranch.reduce.loops.exits import Exits
from anabranch.reduce.merging.policies import Similarity


class LoopSimilarity:
    """Around another relation."""

    def __init__(self, around: Similarity, exits: Exits) -> None:
        self._around = around
        self._exits = exits

    def key(self, state: State) -> Hashable:
        return None if self._exits.holds(state) else self._around.key(state)

    def similar(self, a: State, b: State) -> bool:
        return self._around.similar(a, b)

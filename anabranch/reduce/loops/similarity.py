"""Which states are merged in pairs where loops become one state.

States at the exit of a loop are not: they wait for all others. Inside a loop, those are that agree in what
steers it. Merged across rounds, states would no longer tell in which round they are, and the exits of the
loop could not be told by one number.
"""

from __future__ import annotations

from collections.abc import Hashable

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.reduce.loops.locations import Loops
from anabranch.reduce.merging.policies import Similarity
from anabranch.reduce.merging.similarity import STAR


class LoopSimilarity:
    """Around another relation."""

    def __init__(self, around: Similarity, loops: Loops) -> None:
        self._around = around
        self._loops = loops

    def key(self, state: State) -> Hashable:
        location = self._loops.location(state)
        if location.held:
            return None
        key = self._around.key(state)
        if not location.steering:
            return key
        values = state.values
        return (key, *[STAR if (v := values[i]).__class__ is Expr else v for i in location.steering])

    def similar(self, a: State, b: State) -> bool:
        return self._around.similar(a, b)

    def mixes_rounds(self, state: State) -> bool:
        return not self._loops.location(state).steering

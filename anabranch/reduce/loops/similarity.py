"""Which states are merged in pairs where loops become one state.

States at the exit of a loop are not: they wait for all others. Inside a loop, those are that agree in what
steers it, whatever else they differ in. Merged across rounds, states would no longer tell in which round they
are, and the exits of the loop could not be told by one number.

What is kept in memory and steers what is to come is kept apart everywhere: a parser's position that is a
global variable is as much a position as a local one, but is not seen among the live values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.reduce.loops.locations import NOT_YET, Loops
from anabranch.reduce.merging.join_points import stack_of
from anabranch.reduce.merging.policies import Similarity
from anabranch.reduce.merging.similarity import STAR


class LoopSimilarity:
    """Around another relation."""

    def __init__(self, around: Similarity, hot_cells: Callable[[State], Hashable], loops: Loops) -> None:
        """`hot_cells`: the values in memory on which many queries to come depend."""
        self.around = around
        self._hot_cells = hot_cells
        self._loops = loops

    def key(self, state: State) -> Hashable:
        location = self._loops.location(state)
        if location.held or location is NOT_YET:
            return None
        if not location.steering:
            return self.around.key(state)
        key = self._stack_and_cells(state) if location.inside else self.around.key(state)
        values = state.values
        return (key, *[STAR if (v := values[i]).__class__ is Expr else v for i in location.steering])

    def exit_key(self, state: State) -> Hashable:
        """Of a state that is held at the exit of a loop: those become one that agree in it. None: it is not
        held."""
        return self._stack_and_cells(state) if self._loops.location(state).held else None

    def _stack_and_cells(self, state: State) -> Hashable:
        return stack_of(state), self._hot_cells(state)

    def similar(self, a: State, b: State) -> bool:
        return self._loops.location(a).inside or self.around.similar(a, b)

    def mixes_rounds(self, state: State) -> bool:
        return not self._loops.location(state).steering

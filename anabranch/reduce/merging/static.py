"""Static state merging: topological order, merges where paths that parted meet again (Kuznetsov et al., 5.4).

A fork puts the location where its sides meet again (the immediate post-dominator of its branch, which for the
exit branch of a loop is the loop's exit) on the list of join points of both paths; in a loop, its header and
its exit too. A path that comes to a join point on its list waits, until no state is left that could still
come there: the topological order sees to that. No other location is checked, so that those where no paths
can meet cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.explore.build import Parts
from anabranch.explore.protocols import Search
from anabranch.explore.search.topological import Topological
from anabranch.explore.turns import NO_BATCH
from anabranch.machine import State
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import Target
from anabranch.reduce.merging.extra import MergeExtra
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.policies import Similarity
from anabranch.reduce.merging.tuning import MergeTuning


class StaticMerging(Merging):
    """Stops paths at their join points, and runs those first that are furthest behind."""

    def __init__(
        self,
        parts: Parts,
        similarity: Similarity,
        tuning: MergeTuning,
        gives_up: bool = False,
        verify: bool = False,
        mixes_rounds: Callable[[State], bool] = lambda state: True,
    ) -> None:
        """`mixes_rounds`: may states that are similar to one in a loop be in other rounds of it?"""
        super().__init__(parts, similarity, tuning, gives_up, verify)
        self._mixes_rounds = mixes_rounds
        self._order: Topological[State] = Topological(self.join_points.rank)

    def order(self, search: Search[State]) -> Search[State]:
        return self._order

    def first(self) -> State | None:
        """The state that runs next: whatever may still come to where it is has come."""
        return self._order.first()

    def forks(self, state: State) -> int | None:
        # Without stops the search order chooses among many paths, which must not be left for one of them:
        # with no limit, the bug of bench/subjects/planted/nesting.c takes the plain lane over 40 s, else 4 s.
        return None if self.machine.stops.suspended else NO_BATCH

    def arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        point = self.join_points.reached(number, target, values, continuation[2])
        if point is None:
            return False
        path = self.machine.path
        extra = self.slot.get(path)
        recent = (number,) if point[2] >= 0 else ()
        if recent != extra.recent:
            self.slot.put(path, MergeExtra(extra.armed, recent, extra.merged_at))
        return self._may_meet() and self.ledger.open(number)

    def _may_meet(self) -> bool:
        """Is there anybody to wait for?"""
        return len(self._order) > 0 or bool(self.machine.decider.siblings)

    def keeps_apart(self, state: State) -> bool:
        """A state at the header of a loop waits for others that took more or fewer rounds. They are only some
        of the paths that parted, so that merging them must not make the conditions on the input harder."""
        return self.slot.get(state).recent == (state.place,) and self._mixes_rounds(state)

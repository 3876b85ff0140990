"""The merge operator: joins a state with similar ones that wait at its place (seed 001, Algorithm 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from anabranch.explore.protocols import EXACT, Contract, Search
from anabranch.explore.tree import ExecutionTree
from anabranch.machine import CannotJoin, State, join
from anabranch.machine.translator.sites import PointSite
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.similarity import Similarity
from anabranch.reduce.merging.verify import Verifier
from anabranch.reduce.merging.waiting import Waiting
from anabranch.solver import SliceSpace

CANDIDATES = 32  # states at one place that a state is compared with, the latest ones
REFUSALS = 2  # joins that turn out to be impossible, after which the others are not tried


class Merging:
    """Joins states; what cannot be joined is counted by reason."""

    contract: ClassVar[Contract] = EXACT

    def __init__(
        self,
        waiting: Waiting,
        search: Search[State],
        similarity: Similarity,
        space: SliceSpace,
        tree: ExecutionTree,
        ledger: Ledger,
        heaps_must_agree: bool,
    ) -> None:
        self.waiting = waiting
        self.search = search  # the order that the loop asks, which may be wrapped around `waiting`
        self.similarity = similarity
        self.space = space
        self.tree = tree
        self.ledger = ledger
        self.heaps_must_agree = heaps_must_agree
        self.verifier: Verifier | None = None
        self.plain: Callable[[], bool] = bool  # does the run still go without merging?
        self.in_rounds: Callable[[State], bool] = lambda state: False
        """Does a state wait for others that took more or fewer rounds of a loop? What its input may be must
        not get harder to tell by joining them, since they are but some of those that parted."""
        self.merges = 0
        self.refused: Counter[str] = Counter()

    def join(self, state: State) -> State:
        """The state, or what it became together with waiting ones.

        A state in mid-instruction waits for nothing but to run it again with a decision known: joined with
        the one that decided otherwise, it would have to decide anew.
        """
        if self.plain() or isinstance(state.entry, PointSite):
            return state
        while self.ledger.open(state.place):
            partner = self._join_one(state)
            if partner is None:
                break
            state = partner
        return state

    def _join_one(self, state: State) -> State | None:
        refusals = 0
        for other in self.waiting.at(self.waiting.key(state))[-CANDIDATES:]:
            if not self.similarity.similar(other, state):
                self.refused["not similar"] += 1
                continue
            try:
                joined = join(other, state, self.space, self.heaps_must_agree, self.in_rounds(state))
            except CannotJoin as refusal:
                self.refused[refusal.reason] += 1
                refusals += 1
                if refusals == REFUSALS:
                    return None
                continue
            if self.verifier is not None:
                self.verifier.merged(other, state, joined)
            self.search.remove(other)
            self.tree.join(other.node, state.node, state.place)
            self.merges += 1
            self.ledger.merged(state.place)
            return joined
        return None

    def figures(self) -> dict[str, Any]:
        """What the run's summary tells."""
        figures: dict[str, Any] = {"merges": self.merges, "refused": dict(self.refused)}
        if self.verifier is not None:
            figures["verified"] = self.verifier.verified
            figures["not decided"] = self.verifier.undecided
            figures["wrong"] = self.verifier.differences
        return figures

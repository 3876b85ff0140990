"""The merge operator: merges a state with similar ones that wait at its location.

Kuznetsov et al., "Efficient State Merging in Symbolic Execution" (PLDI 2012), Algorithm 1. Static and
dynamic merging decide where paths wait for each other, and in which order states run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar

from anabranch.explore.build import Parts
from anabranch.explore.leaks import watches_heap
from anabranch.explore.technique import EXACT, Contract, Merge, Technique
from anabranch.explore.worklist import Index
from anabranch.machine import Events, IteEncoder, JoinEncoder, State
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.extra import extra_slot
from anabranch.reduce.merging.join_points import JoinPoints
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.multiplicity import regression
from anabranch.reduce.merging.policies import Similarity
from anabranch.reduce.merging.tuning import MergeTuning
from anabranch.reduce.merging.verify import Verifier

CANDIDATES = 32  # states at one location that a state is compared with, the latest ones
REFUSALS = 2  # candidates that turn out to be impossible to merge, after which no others are tried


class Merging(Technique, ABC):
    """What static and dynamic merging have in common."""

    name: ClassVar[str] = "merging"
    contract: ClassVar[Contract] = EXACT

    def __init__(
        self,
        parts: Parts,
        similarity: Similarity,
        tuning: MergeTuning,
        gives_up: bool = False,
        verify: bool = False,
    ) -> None:
        """`gives_up`: locations where merging costs more than it brings are left to plain exploration;
        `verify`: every merge is proved."""
        self.machine = parts.machine
        self.similarity = similarity
        self.slot = extra_slot(parts.machine.extras)
        self.join_points = JoinPoints(parts.machine, self.slot)
        self.waiting = Index(self._key)
        decider, backend = parts.machine.decider, parts.space.backend
        rules = tuning.ledger if gives_up else None
        self.ledger = Ledger(lambda: backend.effort, lambda: decider.forks, rules)
        self.merges = 0
        self._not_similar = 0
        super().__init__(parts)
        self._encoder: JoinEncoder = IteEncoder(
            parts.space, parts.machine.extras, watches_heap(parts.settings.errors.checks)
        )
        self.verifier = Verifier(parts.space, self._wrong) if verify else None

    def _key(self, state: State) -> Hashable:
        """While merging is suspended, no state is in the index."""
        return None if self.machine.stops.suspended else self.similarity.key(state)

    @property
    def indexes(self) -> Sequence[Index]:
        return (self.waiting,)

    # ---- the running path ----------------------------------------------------------------------------

    def listen(self, events: Events) -> None:
        events.entered.append(self._entered)
        events.forked.append(self._forked)
        events.arrived.append(self.arrived)

    def _entered(self, state: State) -> None:
        if not self.machine.stops.suspended:
            self.ledger.turn(self.slot.get(state).merged_at)

    def _forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        if not self.machine.stops.suspended:
            self.join_points.arm(site, continuation)

    @abstractmethod
    def arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        """The running path came to a join point, of its own or of others: does it wait there?"""

    # ---- the operator --------------------------------------------------------------------------------

    def keeps_apart(self, state: State) -> bool:
        """Are inputs that are independent of each other to stay so, if the state is merged?"""
        return False

    def merge(self, state: State) -> Iterator[Merge]:
        """A state in mid-instruction is not merged: it waits to run the instruction again with its decision
        known, and merged with the state that decided otherwise it would have to decide anew."""
        if self.machine.stops.suspended or isinstance(state.entry, PointSite):
            return
        while self.ledger.open(state.place):
            found = self._partner(state, self.waiting.at(self.waiting.key(state)))
            if found is None:
                return
            yield found
            self._count(found, state)
            state = found.merged

    def merge_all(self, states: Sequence[State]) -> list[State]:
        """What states with one key become that have come to a location together."""
        made: list[State] = []
        for state in states:
            found = self._partner(state, made)
            if found is not None:
                made.remove(found.partner)
                self._count(found, state)
                state = found.merged
            made.append(state)
        return made

    def _count(self, found: Merge, state: State) -> None:
        self.parts.tree.join(found.partner.node, state.node, state.place)
        self.merges += 1
        self.ledger.merged(state.place)

    def _partner(self, state: State, candidates: Sequence[State]) -> Merge | None:
        refusals = 0
        for other in candidates[-CANDIDATES:]:
            if not self.similarity.similar(other, state):
                self._not_similar += 1
                continue
            made = self._encoder.join((other, state), self.keeps_apart(state))
            if len(made) == 1:
                if self.verifier is not None:
                    self.verifier.merged(made[0].parts, made[0].state)
                return Merge(other, made[0].state)
            refusals += 1
            if refusals == REFUSALS:
                return None
        return None

    def _wrong(self, text: str) -> None:
        self.parts.reporter.tally.losses.add("wrong merge")
        self.parts.listener.on_warning(text)

    # ---- figures -------------------------------------------------------------------------------------

    def figures(self) -> dict[str, Any]:
        refused = Counter(self._encoder.refused)
        if self._not_similar:
            refused["not similar"] = self._not_similar
        found: dict[str, Any] = {
            "merges": self.merges,
            "refused": dict(refused),
            "ledger": self.ledger.rows(self.parts.table.describe),
        }
        if self.verifier is not None:
            found["verified"] = self.verifier.verified
            found["not decided"] = self.verifier.undecided
            found["wrong"] = self.verifier.differences
        fit = regression(self.parts.reporter.tally.counted)
        if fit is not None:
            found["paths"] = {"c1": fit[0], "c2": fit[1]}
        return found

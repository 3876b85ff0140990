"""Dynamic state merging around any search order (seed 001, section 4, Algorithm 2).

A path that lags behind a similar one is run first until it catches up and is joined. Two states are expected
to become similar if one is similar to what the other was a short while ago: every state keeps the keys (place
and hot variables) of the last `delta` places that it passed, and a waiting state whose own key is among those
of another belongs to the forwarding set.

Only places where paths can meet are noted: the join points of forks, and where states wait. Blocks in between
are passed by both or by neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from anabranch.explore.protocols import Search
from anabranch.machine import Machine, State
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.similarity import Similarity
from anabranch.reduce.merging.waiting import Waiting

DELTA = 8  # places; the paper's distance is 8 basic blocks


class Here:
    """The running path as far as keys look at a state."""

    __slots__ = ("continuation", "entry", "pages", "values")

    def __init__(self, entry: Target, continuation: Continuation, pages: Any) -> None:
        self.entry = entry
        self.continuation = continuation
        self.pages = pages
        self.values: tuple[Any, ...] = ()


class RunningPages:
    """The pages of the running path, by number."""

    __slots__ = ("get",)

    def __init__(self, machine: Machine) -> None:
        self.get = machine.memory.page


class DynamicMerging:
    """The search order of Algorithm 2, and the eyes of the running path.

    `pickNext_D` is the driving order, `pickNext_F` the topological one.
    """

    def __init__(
        self,
        machine: Machine,
        places: Places,
        similarity: Similarity,
        driving: Search[State],
        ledger: Ledger,
        delta: int = DELTA,
    ) -> None:
        self.machine = machine
        self.places = places
        self.similarity = similarity
        self.delta = delta
        self.ledger = ledger
        self.waiting = Waiting(driving, similarity.key, ledger.turn)
        self.passed: Counter[Hashable] = Counter()  # keys that waiting states had lately
        self.forwarding: dict[State, None] = {}
        self.forwarded = 0
        self.hurry = False  # the state picked last is being forwarded: it runs to its next fork only
        self._pages = RunningPages(machine)
        machine.decider.on_fork = self.forked
        machine.stops.arrival = self.arrived

    # ---- the running path ----------------------------------------------------------------------------

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        """The sides of a fork will be looked at where they meet again."""
        for stop in self.places.meeting_points(site.unit, site.block, continuation):
            self.machine.stops.install(stop[0])

    def arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        """Note the place; stop where a similar state waits."""
        here: Any = Here(target, continuation, self._pages)
        here.values = values
        key = self.similarity.key(here)
        if self.waiting.holds(key) and self.ledger.open(number):
            return True
        path = self.machine.path
        path.recent = (*path.recent[1 - self.delta :], key)
        if self.passed.get(key):
            # It follows a waiting state: from here on every fork may be the place where that one waits.
            self.machine.decider.budget = min(self.machine.decider.budget, 1)
        return False

    # ---- the search order ----------------------------------------------------------------------------

    @property
    def description(self) -> str:
        return f"dynamic merging around {self.waiting.description}"

    def add(self, states: Sequence[State]) -> None:
        self.waiting.add(states)
        for state in states:
            key = self.waiting.key(state)
            if self.passed.get(key):
                self.forwarding[state] = None
            for past in state.recent:
                if past != key:
                    self.passed[past] += 1
                    self.forwarding.update(dict.fromkeys(s for s in self.waiting.at(past) if s is not state))
            entry = state.entry
            if isinstance(entry, Target) and entry.key[0] == "block":
                self.machine.stops.install(entry.place)

    def _leave(self, state: State, key: Hashable) -> None:
        self.forwarding.pop(state, None)
        for past in state.recent:
            if past != key:
                left = self.passed[past] - 1
                if left:
                    self.passed[past] = left
                else:
                    del self.passed[past]
        state.recent = (*state.recent[1 - self.delta :], key)

    def remove(self, state: State) -> None:
        key = self.waiting.key(state)
        self.waiting.remove(state)
        self._leave(state, key)

    def pick(self) -> State:
        # Every other turn is that of the driving order: a forwarding set that never gets empty would leave it
        # none.
        state = None if self.hurry else self._lagging()
        self.hurry = False
        if state is not None:
            key = self.waiting.key(state)
            self.waiting.remove(state)
            self.ledger.turn(state)
            self.forwarded += 1
            self.hurry = True
        else:
            state, key = self.waiting.pick_with_key()
        self._leave(state, key)
        return state

    def _lagging(self) -> State | None:
        """The first state of the forwarding set in topological order."""
        while self.forwarding:
            state = min(self.forwarding, key=self.places.rank)
            if self.passed.get(self.waiting.key(state)):
                return state
            del self.forwarding[state]  # the one it lagged behind has gone
        return None

    def __len__(self) -> int:
        return len(self.waiting)

    def states(self) -> Iterator[State]:
        return self.waiting.states()

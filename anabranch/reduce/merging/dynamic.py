"""Dynamic state merging around any search order (seed 001, section 4, Algorithm 2).

A path that lags behind a similar one is run first until it catches up and is joined. Two states are expected
to become similar if one is similar to what the other was a short while ago: every state keeps the keys (place
and hot variables) of the last `delta` places that it passed, and a waiting state whose own key is among those
of another belongs to the forwarding set.

Only places where paths can meet are noted: the join points of forks, and where states wait. Blocks in between
are passed by both or by neither.

Beyond the paper: those that are likeliest to become similar are paths that have just parted. So what comes of
one choice of the driving order is a family: for some turns its members run in topological order and wait for
each other where they meet again, as in static merging, before the driving order chooses anew.

Where time is limited, merging has but a share of it, and what the driving order chooses in the rest goes on
path by path, as if there were no merging: merged states stand for many paths, and are slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from anabranch.explore.protocols import Search
from anabranch.explore.search.topological import Topological
from anabranch.machine import Machine, State
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target
from anabranch.reduce.merging.arming import arm, reached
from anabranch.reduce.merging.ledger import Ledger
from anabranch.reduce.merging.places import Places
from anabranch.reduce.merging.share import TimeShare
from anabranch.reduce.merging.similarity import Similarity
from anabranch.reduce.merging.waiting import Waiting

DELTA = 8  # places; the paper's distance is 8 basic blocks
FAMILY_TURNS = 128  # of the states that come of one choice, until the driving order chooses again


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
        share: TimeShare | None = None,
    ) -> None:
        """`share`: of the time, where it is limited; without, all is merging."""
        self.machine = machine
        self.places = places
        self.similarity = similarity
        self.delta = delta
        self.ledger = ledger
        self.waiting = Waiting(driving, similarity.key, ledger.turn)
        self.passed: Counter[Hashable] = Counter()  # keys that waiting states had lately
        self.forwarding: Topological[State] = Topological(places.rank)
        self.family: Topological[State] = Topological(places.rank)
        self.forwarded = 0
        self._turns_left = 0  # of the family
        self.hurry = False  # the state picked last is being forwarded: it runs to its next fork only
        self._was_lagging = False  # the one that the last family came of
        self._share = share
        self._pages = RunningPages(machine)
        machine.decider.on_fork = self.forked
        machine.stops.arrival = self.arrived

    # ---- the running path ----------------------------------------------------------------------------

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        if not self.machine.stops.suspended:
            arm(self.machine.path, self.machine.stops, self.places, site, continuation)

    def arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        """Note the place; stop where a similar state waits, or where one of the family may come."""
        path = self.machine.path
        expected = reached(path, number, continuation[2]) is not None
        here: Any = Here(target, continuation, self._pages)
        here.values = values
        key = self.similarity.key(here)
        if self.ledger.open(number) and (
            self.waiting.holds(key) or (expected and (len(self.family) or self.machine.decider.siblings))
        ):
            return True
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
        if self.machine.stops.suspended:
            self.waiting.add_apart(states)
            return
        self.waiting.add(states)
        for state in states:
            key = self.waiting.key(state)
            if self._turns_left:
                self.family.add([state])
            elif self.passed.get(key):
                self.forwarding.add([state])
            for past in state.recent:
                if past != key:
                    self.passed[past] += 1
                    self._forward(s for s in self.waiting.at(past) if s is not state)
            entry = state.entry
            if isinstance(entry, Target) and entry.key[0] == "block":
                self.machine.stops.install(entry.place)

    def _forward(self, states: Iterable[State]) -> None:
        for state in states:
            if state not in self.family and state not in self.forwarding:
                self.forwarding.add([state])

    def _leave(self, state: State, key: Hashable) -> None:
        for order in (self.family, self.forwarding):
            if state in order:
                order.remove(state)
        for past in state.recent:
            if past != key:
                left = self.passed[past] - 1
                if left:
                    self.passed[past] = left
                else:
                    del self.passed[past]
        state.recent = (*state.recent[1 - self.delta :], key)

    def remove(self, state: State) -> None:
        key = self.waiting.key(state) if self.waiting.keyed(state) else None
        self.waiting.remove(state)
        if key is not None:
            self._leave(state, key)

    def pick(self) -> State:
        self.hurry = False
        stops, share = self.machine.stops, self._share
        if self._turns_left and len(self.family) and (share is None or not share.exceeded()):
            self._turns_left -= 1
            return self._take(self.family.pick())
        self._part()
        if share is not None and not share.left(merging=not stops.suspended):
            stops.suspend()
            return self._driven()
        stops.resume()
        self._turns_left = FAMILY_TURNS
        # Every other family is that of a choice of the driving order: a forwarding set that never gets empty
        # would leave it none.
        lagging = None if self._was_lagging else self._lagging()
        self._was_lagging = self.hurry = lagging is not None
        if lagging is None:
            return self._driven()
        self.forwarded += 1
        return self._take(lagging)

    def _driven(self) -> State:
        state, key = self.waiting.pick_with_key()
        if key is not None:
            self._leave(state, key)
        return state

    def _take(self, state: State) -> State:
        key = self.waiting.key(state)
        self.waiting.remove(state)
        self.ledger.turn(state)
        self._leave(state, key)
        return state

    def _part(self) -> None:
        """The family has had its turns: nobody waits for its members any longer."""
        for state in list(self.family.states()):
            self.family.remove(state)
            state.stops = None
            if self.passed.get(self.waiting.key(state)):
                self.forwarding.add([state])

    def _lagging(self) -> State | None:
        """The first state of the forwarding set in topological order."""
        while len(self.forwarding):
            state = self.forwarding.pick()
            if self.passed.get(self.waiting.key(state)):
                return state
        return None  # those they lagged behind have gone

    def __len__(self) -> int:
        return len(self.waiting)

    def states(self) -> Iterator[State]:
        return self.waiting.states()

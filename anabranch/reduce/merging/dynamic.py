"""Dynamic state merging around any search order (Kuznetsov et al., section 4, Algorithm 2).

A path that lags behind a similar one is run first until it catches up and is merged. Two states are expected
to become similar if one is similar to what the other was a short while ago: every state keeps the keys
(location and hot variables) of the last `delta` locations that it passed, and a waiting state whose own key
is among those of another belongs to the forwarding set.

Only locations where paths can meet are noted: the join points of forks, and where states wait. Blocks in
between are passed by both or by neither.

Beyond the paper: paths that have just parted are the likeliest to become similar. So the states that come of
one choice of the driving order are a family: for some turns they run in topological order and wait for each
other where they meet again, as in static merging, before the driving order chooses anew.

If time is limited, merging has only a share of it. In the rest, states go on path by path, as if there were
no merging, because merged states stand for many paths and are slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from anabranch.explore.budget import Share
from anabranch.explore.build import Parts
from anabranch.explore.protocols import Search
from anabranch.explore.search.topological import Topological
from anabranch.machine import Machine, State
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import Postponed, Target
from anabranch.reduce.merging.extra import disarmed, with_recent
from anabranch.reduce.merging.merge import Merging
from anabranch.reduce.merging.policies import Similarity
from anabranch.reduce.merging.tuning import MergeTuning

DELTA = 8  # locations; the paper's distance is 8 basic blocks


class Here:
    """The running path, as far as keys of similarity read a state."""

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


class DynamicMerging(Merging):
    """Stops paths where they may meet similar ones, and orders states as Algorithm 2 does."""

    def __init__(
        self,
        parts: Parts,
        similarity: Similarity,
        tuning: MergeTuning,
        gives_up: bool = False,
        verify: bool = False,
        shares: bool = False,
        delta: int = DELTA,
    ) -> None:
        """`shares`: does merging take only a share of a limited time?"""
        super().__init__(parts, similarity, tuning, gives_up, verify)
        self._delta = delta
        self._families = tuning.families
        self._pages = RunningPages(parts.machine)
        limit = parts.settings.limits.time
        self._share = None
        if shares and limit is not None:
            families = tuning.families
            share = parts.budget.share(self.name, families.share)
            self._share = MergingTime(share, families.longest * families.share * limit)
        self._order: DynamicOrder | None = None

    def order(self, search: Search[State]) -> Search[State]:
        self._order = DynamicOrder(self, search, self._delta, self._families.turns, self._share)
        return self._order

    def forks(self, state: State) -> int | None:
        """A state of the forwarding set runs to its next fork only."""
        return 1 if self._order is not None and self._order.forwards(state) else None

    def arrived(
        self, number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]
    ) -> bool:
        """Note the location; stop where a similar state waits, or where one of the family may come."""
        path, decider = self.machine.path, self.machine.decider
        assert self._order is not None
        expected = self.join_points.reached(number, target, values, continuation[2]) is not None
        here: Any = Here(target, continuation, self._pages)
        here.values = values
        key = self.similarity.key(here)
        if self.ledger.open(number) and (
            self.waiting.holds(key) or (expected and (self._order.in_family or decider.siblings))
        ):
            return True
        self.slot.put(path, with_recent(self.slot.get(path), key, self._delta))
        if self._order.follows(key):
            # The path follows a waiting state, which may wait at any fork from here on.
            decider.budget = min(decider.budget, 1)
        return False

    def figures(self) -> dict[str, Any]:
        forwarded = self._order.forwarded if self._order is not None else 0
        return {**super().figures(), "forwarded": forwarded}


class MergingTime:
    """The time that merging takes of a run, family by family."""

    def __init__(self, share: Share, longest: float) -> None:
        self._share = share
        self._longest = longest
        self._since = share.now()

    def left(self, merging: bool) -> bool:
        """May merging go on? `merging`: was the time since the last call spent with it?"""
        now = self._share.now()
        passed, self._since = now - self._since, now
        if merging:
            self._share.charge(passed)
        return self._share.left()

    def exceeded(self) -> bool:
        """Has the family that began at the last call taken longer than one may?"""
        return self._share.now() - self._since > self._longest


class DynamicOrder:
    """The search order of Algorithm 2: `pickNext_D` is the driving order, `pickNext_F` is topological."""

    def __init__(
        self,
        merging: DynamicMerging,
        driving: Search[State],
        delta: int,
        family_turns: int,
        time: MergingTime | None,
    ) -> None:
        self.forwarded = 0
        """States that were run first because they lagged behind."""
        self._driving = driving
        self._delta = delta
        self._family_turns = family_turns
        self._time = time
        self._slot = merging.slot
        self._waiting = merging.waiting
        self._stops = merging.machine.stops
        rank = merging.join_points.rank
        self._passed: Counter[Hashable] = Counter()  # keys that waiting states had lately
        self._forwarding: Topological[State] = Topological(rank)
        self._family: Topological[State] = Topological(rank)
        self._turns_left = 0  # of the family
        self._forwarded_now: State | None = None  # the state picked last, if it lagged behind
        self._was_lagging = False  # did the last family come of a lagging state?

    @property
    def description(self) -> str:
        return f"dynamic merging around {self._driving.description}"

    @property
    def in_family(self) -> int:
        """Waiting states of the family that runs."""
        return len(self._family)

    def forwards(self, state: State) -> bool:
        """Is the state that was just picked being forwarded?"""
        return state is self._forwarded_now

    def follows(self, key: Hashable) -> bool:
        """Has a waiting state lately been where the running path is?"""
        return bool(self._passed.get(key))

    def add(self, states: Sequence[State]) -> None:
        self._driving.add(states)
        if self._stops.suspended:
            return
        for state in states:
            key = self._waiting.key(state)
            if isinstance(state.entry, Postponed):
                pass  # its query is hard: nobody waits for it
            elif self._turns_left:
                self._family.add([state])
            elif self.follows(key):
                self._forwarding.add([state])
            for past in self._slot.get(state).recent:
                if past != key:
                    self._passed[past] += 1
                    self._forward(s for s in self._waiting.at(past) if s is not state)
            entry = state.entry
            if isinstance(entry, Target) and entry.key[0] == "block":
                self._stops.install(entry.place)

    def _forward(self, states: Iterable[State]) -> None:
        for state in states:
            if state not in self._family and state not in self._forwarding:
                self._forwarding.add([state])

    def _leave(self, state: State) -> None:
        """A state stops waiting: it leaves all that it could be found by."""
        if not self._waiting.knows(state):
            return
        key = self._waiting.key(state)
        for order in (self._family, self._forwarding):
            if state in order:
                order.remove(state)
        extra = self._slot.get(state)
        for past in extra.recent:
            if past != key:
                left = self._passed[past] - 1
                if left:
                    self._passed[past] = left
                else:
                    del self._passed[past]
        self._slot.put(state, with_recent(extra, key, self._delta))

    def remove(self, state: State) -> None:
        self._driving.remove(state)
        self._leave(state)

    def pick(self) -> State:
        self._forwarded_now = None
        time = self._time
        if self._turns_left and len(self._family) and (time is None or not time.exceeded()):
            self._turns_left -= 1
            return self._take(self._family.pick())
        self._part()
        if time is not None and not time.left(merging=not self._stops.suspended):
            self._stops.suspend()
            return self._driven()
        self._stops.resume()
        self._turns_left = self._family_turns
        # Every other family comes of a choice of the driving order, which would never choose again if the
        # forwarding set never got empty.
        lagging = None if self._was_lagging else self._lagging()
        self._was_lagging = lagging is not None
        if lagging is None:
            return self._driven()
        self.forwarded += 1
        self._forwarded_now = lagging
        return self._take(lagging)

    def _driven(self) -> State:
        state = self._driving.pick()
        self._leave(state)
        return state

    def _take(self, state: State) -> State:
        self._driving.remove(state)
        self._leave(state)
        return state

    def _part(self) -> None:
        """The family has had its turns: nobody waits for its members any longer."""
        for state in list(self._family.states()):
            self._family.remove(state)
            self._slot.put(state, disarmed(self._slot.get(state)))
            if self.follows(self._waiting.key(state)):
                self._forwarding.add([state])

    def _lagging(self) -> State | None:
        """The first state of the forwarding set in topological order."""
        while len(self._forwarding):
            state = self._forwarding.pick()
            if self.follows(self._waiting.key(state)):
                return state
        return None  # the states that they lagged behind have gone

    def __len__(self) -> int:
        return len(self._driving)

    def states(self) -> Iterator[State]:
        return self._driving.states()

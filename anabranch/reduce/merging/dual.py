"""Dual exploration (`--merge auto`): the program is explored in two lanes at a time, path by path and with
merging, and the first lane to finish counts.

Whether merging is worth its cost is only known afterwards: some programs are explored path by path in no
time, and where merging makes conditions hard, plain exploration stays ahead for long. So both lanes get the
same time of the processor, and a run takes at most about twice as long as the better of the two alone.

Tests, errors and coverage of both lanes count. Paths, ends and losses are counted for each lane by itself,
and the run reports those of the lane that finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from anabranch.explore.build import Parts
from anabranch.explore.kinds import PRUNED
from anabranch.explore.protocols import Search
from anabranch.explore.tally import Tally
from anabranch.explore.technique import EXACT, Contract, Settled, Technique
from anabranch.machine import State
from anabranch.reduce.merging.tuning import LaneShares


@dataclass(eq=False, slots=True)
class Lane:
    """One of the two explorations."""

    order: Search[State]
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    """Time of the processor that it has used."""
    gave_up: bool = False
    """Were its last states given up? Then it has not come to its end, but cannot go on either."""

    @property
    def finished(self) -> bool:
        return not len(self.order) and not self.gave_up


class DualExploration(Technique):
    """Two lanes over the same program."""

    name: ClassVar[str] = "dual exploration"
    contract: ClassVar[Contract] = EXACT

    def __init__(
        self, parts: Parts, plain: Search[State], merging: Search[State], shares: LaneShares
    ) -> None:
        """`plain`, `merging`: the search orders of the lanes."""
        super().__init__(parts)
        self.plain = Lane(plain)
        self.merging = Lane(merging, seconds=shares.first)
        self.running = self.plain
        self.shares = shares
        self._reporter = parts.reporter
        self._tree = parts.tree
        self._owner = parts.reporter.owner
        self._stops = parts.machine.stops
        self._lane = parts.machine.extras.slot(self.plain, lambda a, b, mine, other: mine)
        self._since = shares.clock()
        self._turns = 0

    def order(self, search: Search[State]) -> Search[State]:
        return DualOrder(self)

    def begin(self, states: Sequence[State]) -> Sequence[State]:
        """Every start state, once for each lane; the plain lane begins."""
        self._owner.tally = self.plain.tally
        self._stops.suspend()
        return [*(self._copy(state) for state in states), *states]

    def _copy(self, state: State) -> State:
        copied = State()
        for name in State.__slots__:
            setattr(copied, name, getattr(state, name))
        copied.node = self._tree.fork(state.node, state.place, "merging")
        self._lane.put(copied, self.merging)
        return copied

    def lane_of(self, state: State) -> Lane:
        return self._lane.get(state)

    # ---- whose turn it is ----------------------------------------------------------------------------

    def next_lane(self) -> Lane:
        """The lane that has the next turn, in which paths are counted from now on."""
        self._turns += 1
        limit = self.shares.turns if self.running is self.plain else self.shares.merged_turns
        if self._turns >= limit or not len(self.running.order):
            self._compare()
        self._owner.tally = self.running.tally
        return self.running

    def _compare(self) -> None:
        """Charge the running lane, and let the other one run if that is behind."""
        self._turns = 0
        now = self.shares.clock()
        running, other = self.running, self.merging if self.running is self.plain else self.plain
        running.seconds += now - self._since
        self._since = now
        merging_is_behind = self.merging.seconds < self.shares.merging * self.plain.seconds
        # A lane whose states were all given up for the sake of memory has no turn any more.
        if not len(running.order) or (len(other.order) and merging_is_behind is (other is self.merging)):
            if other is self.merging:
                self._stops.resume()
            else:
                self._stops.suspend()
            self.running = other

    # ---- ends ----------------------------------------------------------------------------------------

    def settle(self) -> Iterable[Settled]:
        """When one lane has come to its end, what the other one has left is dropped."""
        return self._drop_other() if self.running.finished else ()

    def _drop_other(self) -> Iterator[Settled]:
        other = self.merging if self.running is self.plain else self.plain
        left = list(other.order.states())
        other.gave_up = True
        yield Settled(left)
        for state in left:
            self._reporter.goes_no_further(state, PRUNED)

    def given_up(self, state: State) -> None:
        """The loss counts for the lane that the state was in."""
        lane = self._lane.get(state)
        lane.gave_up = not len(lane.order)
        self._owner.tally = lane.tally

    def finish(self) -> None:
        """The run reports the lane that came to its end, whatever it lost on the way. If both were stopped,
        it reports the one that stands for more paths."""
        lanes = [self.plain, self.merging]
        ended = [lane for lane in lanes if lane.finished]
        if not ended:  # all waiting states were given up, and are losses of their lanes
            ended = [lane for lane in lanes if not lane.tally.losses] or lanes
        self._owner.tally = max(ended, key=lambda lane: lane.tally.multiplicity).tally

    def figures(self) -> dict[str, Any]:
        return {"seconds": {"plain": round(self.plain.seconds, 2), "merging": round(self.merging.seconds, 2)}}


class DualOrder:
    """A search order made of two, each with the states of its lane."""

    def __init__(self, dual: DualExploration) -> None:
        self._dual = dual
        self._plain, self._merging = dual.plain.order, dual.merging.order

    @property
    def description(self) -> str:
        return self._dual.merging.order.description

    def add(self, states: Sequence[State]) -> None:
        for state in states:
            lane = self._dual.lane_of(state)
            lane.order.add((state,))
            lane.gave_up = False

    def remove(self, state: State) -> None:
        self._dual.lane_of(state).order.remove(state)

    def pick(self) -> State:
        return self._dual.next_lane().order.pick()

    def __len__(self) -> int:
        return len(self._plain) + len(self._merging)

    def states(self) -> Iterator[State]:
        yield from self._plain.states()
        yield from self._merging.states()

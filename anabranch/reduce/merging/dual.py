"""Dual exploration (`--merge auto`): the program is explored in two lanes at a time, path by path and with
merging, and the first lane to finish counts.

Whether merging is worth its cost is only known afterwards: a small program is explored path by path before
any estimate is made, and where merging makes conditions hard, plain exploration stays ahead for long. So the
plain lane begins, and the merging lane gets a small share of the work until `LaneShares.long`; a program that
is not done by then is left to merging. Work is counted in instructions, forks and the solver's resources,
each at about the microseconds it takes, and not in seconds, so that the same run takes the same turns.

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
from anabranch.machine import Machine, State
from anabranch.reduce.merging.tuning import LaneShares
from anabranch.solver import SliceSpace

# What each kind of work takes, in about microseconds.
INSTRUCTION = 0.08
FORK = 35
CALL = 40  # of the environment's model
ACCESS = 120  # at a symbolic address
ALLOCATION = 25  # of an object, and what is done with it
PAGE = 0.35  # of a large object that dies
MERGED_TURN = 600
MERGED_EFFORT = 100


class WorkMeter:
    """The work of the whole run, as if all of it had been with merging or without."""

    def __init__(self, machine: Machine, space: SliceSpace) -> None:
        self._machine = machine
        self._space = space
        self.turns = 0

    def done(self, merging: bool) -> float:
        machine = self._machine
        done = INSTRUCTION * machine.counters.instructions() + FORK * machine.decider.forks
        done += CALL * machine.api.calls + ACCESS * machine.addresses.resolved
        done += ALLOCATION * machine.memory.allocated + PAGE * machine.memory.dropped
        return done + merging * (MERGED_TURN * self.turns + MERGED_EFFORT * self._space.backend.effort)


@dataclass(eq=False, slots=True)
class Lane:
    """One of the two explorations."""

    order: Search[State]
    tally: Tally = field(default_factory=Tally)
    work: float = 0.0
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
        self.merging = Lane(merging, work=shares.first)
        self.running = self.plain
        self.shares = shares
        self._tree = parts.tree
        self._owner = parts.reporter.owner
        self._stops = parts.machine.stops
        self._meter = WorkMeter(parts.machine, parts.space)
        self._lane = parts.machine.extras.slot(self.plain, lambda a, b, mine, other: mine)
        self._since = 0.0
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
        self._meter.turns += 1
        limit = self.shares.turns if self.running is self.plain else self.shares.merged_turns
        if self._turns >= limit or not len(self.running.order):
            self._compare_work()
        self._owner.tally = self.running.tally
        return self.running

    def _compare_work(self) -> None:
        self._turns = 0
        running = self.running
        running.work += self._meter.done(running is self.merging) - self._since
        merging_is_due = self.merging.work < self._allowed()
        other = self.merging if running is self.plain else self.plain
        # A lane whose states were all given up for the sake of memory has no turn any more.
        if not len(running.order) or (len(other.order) and merging_is_due is (running is self.plain)):
            if other is self.merging:
                self._stops.resume()
            else:
                self._stops.suspend()
            self.running = other
        self._since = self._meter.done(self.running is self.merging)

    def _allowed(self) -> float:
        """The work that merging may have done by now."""
        shares = self.shares
        return self.plain.work * (shares.share if self.plain.work < shares.long else shares.patience)

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
            self._tree.end(state.node, state.place, PRUNED)

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
        return {"work": {"plain": round(self.plain.work), "merging": round(self.merging.work)}}


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

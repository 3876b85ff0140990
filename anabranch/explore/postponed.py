"""States that wait because of a hard query: they come last, but not never."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from time import monotonic

from anabranch.explore.budget import HardTurns
from anabranch.explore.protocols import Search
from anabranch.machine import State
from anabranch.machine.translator.sites import Postponed


class PostponedLast:
    """A search order around another, for states whose query was put back.

    They have a turn when nothing else waits or when the budget has time for them: those first that were put
    back least often, and of these the oldest.
    """

    __slots__ = ("_add", "_began", "_order", "_pick", "_postponed", "_turns")

    def __init__(self, order: Search[State], turns: HardTurns) -> None:
        self._order = order
        self._add, self._pick = order.add, order.pick
        self._turns = turns
        # By how often they were put back: seldom more than twice, then the query is given up.
        self._postponed: dict[int, OrderedDict[State, None]] = {}
        self._began: float | None = None  # when the turn of such a state did that runs now

    @property
    def description(self) -> str:
        return self._order.description

    def add(self, states: Sequence[State]) -> None:
        if len(states) == 1 and states[0].entry.__class__ is not Postponed:
            self._add(states)  # as it is after nearly every turn
        else:
            self._put_back(states)

    def _put_back(self, states: Sequence[State]) -> None:
        for state in states:
            if isinstance(state.entry, Postponed):
                self._postponed.setdefault(state.entry.attempt, OrderedDict())[state] = None
            else:
                self._add((state,))

    def remove(self, state: State) -> None:
        if isinstance(state.entry, Postponed):
            self._take(state.entry.attempt, state)
        else:
            self._order.remove(state)

    def _take(self, attempt: int, state: State) -> None:
        states = self._postponed[attempt]
        del states[state]
        if not states:
            del self._postponed[attempt]

    def pick(self) -> State:
        if self._postponed or self._began is not None:
            state = self._pick_postponed()
            if state is not None:
                return state
        return self._pick()

    def _pick_postponed(self) -> State | None:
        if self._began is not None:
            self._turns.taken(monotonic() - self._began)
            self._began = None
        if not self._postponed:
            return None
        attempt = min(self._postponed)
        if len(self._order) and not self._turns.due(attempt):
            return None
        state = next(iter(self._postponed[attempt]))
        self._take(attempt, state)
        self._began = monotonic()
        return state

    def __len__(self) -> int:
        if self._postponed:
            return len(self._order) + sum(map(len, self._postponed.values()))
        return len(self._order)

    def states(self) -> Iterator[State]:
        yield from self._order.states()
        for states in self._postponed.values():
            yield from states

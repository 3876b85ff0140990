"""interleave: several orders over the same waiting states take turns, those that find something more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic

from anabranch.explore.protocols import S, Search

RECENT = 1 / 32
"""The weight of the last turn in an order's rate of success."""
BONUS = 3.0
"""The most successful order has 1 + BONUS times as many turns as one without success."""
SELDOM = 1 / 64
"""A rate of success below which an order counts as having little."""


def _nothing() -> int:
    return 0


class Interleave(Generic[S]):
    """Every order holds every state; what one picks leaves the others in constant time.

    `progress` is a number that changes when a turn has brought something. The order whose turn it was is
    credited with it. An order's share of the turns grows with its rate of success lately, and none is ever
    without turns: what brings nothing now may be the only one that does later.
    """

    def __init__(self, orders: Sequence[Search[S]], progress: Callable[[], int] = _nothing) -> None:
        if not orders:
            raise ValueError("no search order to interleave")
        self._orders = tuple(orders)
        self._removers = tuple(
            tuple(other.remove for other in orders if other is not order) for order in orders
        )
        self._adders = tuple(order.add for order in orders)
        self._progress = progress
        self._seen = progress()
        self._turn: int | None = None  # the order that picked last
        self._rates = [0.0] * len(orders)
        self._clocks = [0.0] * len(orders)  # turns that each has had, divided by its share
        self.description = "interleave(" + ", ".join(order.description for order in orders) + ")"

    def add(self, states: Sequence[S]) -> None:
        for add in self._adders:
            add(states)

    def remove(self, state: S) -> None:
        for order in self._orders:
            order.remove(state)

    def pick(self) -> S:
        if self._turn is not None:
            self._credit(self._turn)
        clocks = self._clocks
        turn = self._turn = clocks.index(min(clocks))
        state = self._orders[turn].pick()
        for remove in self._removers[turn]:
            remove(state)
        return state

    def _credit(self, turn: int) -> None:
        """Judge the last turn, and charge it to its order."""
        progress = self._progress()
        self._rates[turn] += RECENT * ((progress != self._seen) - self._rates[turn])
        self._seen = progress
        best = max(SELDOM, *self._rates)
        self._clocks[turn] += 1 / (1 + BONUS * self._rates[turn] / best)

    def __len__(self) -> int:
        return len(self._orders[0])

    def states(self) -> Iterator[S]:
        return self._orders[0].states()

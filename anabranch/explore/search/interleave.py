"""interleave: several orders over the same waiting states take turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic

from anabranch.explore.protocols import S, Search


class Interleave(Generic[S]):
    """Round robin. Every order holds every state; what one picks leaves the others in constant time."""

    def __init__(self, orders: Sequence[Search[S]]) -> None:
        if not orders:
            raise ValueError("no search order to interleave")
        self._orders = tuple(orders)
        self._turns = tuple(
            (order.pick, tuple(other.remove for other in orders if other is not order)) for order in orders
        )
        self._adders = tuple(order.add for order in orders)
        self._turn = 0
        self.description = "interleave(" + ", ".join(order.description for order in orders) + ")"

    def add(self, states: Sequence[S]) -> None:
        for add in self._adders:
            add(states)

    def remove(self, state: S) -> None:
        for order in self._orders:
            order.remove(state)

    def pick(self) -> S:
        turn = self._turn
        pick, removers = self._turns[turn]
        state = pick()
        turn += 1
        self._turn = turn if turn < len(self._turns) else 0
        for remove in removers:
            remove(state)
        return state

    def __len__(self) -> int:
        return len(self._orders[0])

    def states(self) -> Iterator[S]:
        return self._orders[0].states()

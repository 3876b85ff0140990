"""The waiting states by place: who could be joined with whom."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from anabranch.explore.protocols import Search
from anabranch.machine import State

Key = Callable[[State], Hashable]


class Waiting:
    """A search order that also knows its states by key (place, and what they must agree on)."""

    def __init__(self, order: Search[State], key: Key, turn: Callable[[State], None]) -> None:
        self._order = order
        self._turn = turn  # is told of every state that goes on
        self._key = key
        self._by_key: dict[Hashable, dict[State, None]] = {}
        self._keys: dict[State, Hashable] = {}
        self._latest: tuple[State, Hashable] | None = None  # asked for, of a state that does not wait yet

    @property
    def description(self) -> str:
        return self._order.description

    def key(self, state: State) -> Hashable:
        found = self._keys.get(state)
        if found is not None:
            return found
        latest = self._latest
        if latest is None or latest[0] is not state:
            latest = self._latest = (state, self._key(state))
        return latest[1]

    def at(self, key: Hashable) -> list[State]:
        """The waiting states with a key, oldest first."""
        return list(self._by_key.get(key, ()))

    def holds(self, key: Hashable) -> bool:
        """Does any state with this key wait?"""
        return key in self._by_key

    def add(self, states: Sequence[State]) -> None:
        for state in states:
            key = self._keys[state] = self.key(state)
            self._by_key.setdefault(key, {})[state] = None
        self._latest = None
        self._order.add(states)

    def add_apart(self, states: Sequence[State]) -> None:
        """States that nobody is to be joined with."""
        self._order.add(states)

    def keyed(self, state: State) -> bool:
        """Does it wait where others may find it?"""
        return state in self._keys

    def remove(self, state: State) -> None:
        self._forget(state)
        self._order.remove(state)

    def pick(self) -> State:
        return self.pick_with_key()[0]

    def pick_with_key(self) -> tuple[State, Hashable]:
        state = self._order.pick()
        self._turn(state)
        return state, self._forget(state)

    def _forget(self, state: State) -> Hashable:
        """Its key; None if it waited apart."""
        key = self._keys.pop(state, None)
        if key is None:
            return None
        bucket = self._by_key[key]
        del bucket[state]
        if not bucket:
            del self._by_key[key]
        return key

    def __len__(self) -> int:
        return len(self._order)

    def states(self) -> Iterator[State]:
        return self._order.states()

"""The waiting states. The search order chooses the next one; the indexes find those at a location."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from anabranch.explore.protocols import Search
from anabranch.machine import State

Key = Callable[[State], Hashable]


class Index:
    """Waiting states by a key that a technique gives: their location, and what else they must agree on.

    A state whose key is None is not in the index.
    """

    def __init__(self, key: Key) -> None:
        self._key = key
        self._by_key: dict[Hashable, dict[State, None]] = {}
        self._keys: dict[State, Hashable] = {}
        self._latest: tuple[State, Hashable] | None = None  # the last key made, of a state that comes next

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

    def knows(self, state: State) -> bool:
        return state in self._keys

    def add(self, state: State) -> None:
        key = self.key(state)
        self._latest = None
        if key is not None:
            self._keys[state] = key
            self._by_key.setdefault(key, {})[state] = None

    def discard(self, state: State) -> None:
        key = self._keys.pop(state, None)
        if key is not None:
            bucket = self._by_key[key]
            del bucket[state]
            if not bucket:
                del self._by_key[key]


class Worklist:
    """Owns the waiting states. Only the loop takes one out."""

    def __init__(self, search: Search[State], indexes: Sequence[Index] = ()) -> None:
        self._search = search
        self._pick = search.pick
        self._add = search.add
        self._indexes = tuple(indexes)
        self.size = 0
        """How many states wait. Counted here, because it is asked for several times a turn."""

    @property
    def description(self) -> str:
        """The search order, as the user would write it."""
        return self._search.description

    def add(self, states: Sequence[State]) -> None:
        """States that now wait; the last one is the newest."""
        for index in self._indexes:
            for state in states:
                index.add(state)
        self._add(states)
        self.size += len(states)

    def remove(self, state: State) -> None:
        self._search.remove(state)
        self.size -= 1
        for index in self._indexes:
            index.discard(state)

    def pick(self) -> State:
        """The next state, which stops waiting."""
        state = self._pick()
        self.size -= 1
        for index in self._indexes:
            index.discard(state)
        return state

    def drain(self) -> Iterator[State]:
        """All waiting states, which stop waiting: the run is over."""
        for state in list(self._search.states()):
            self.remove(state)
            yield state

    def __len__(self) -> int:
        return self.size

    def states(self) -> Iterator[State]:
        """All waiting states, in an order that is the same in every run."""
        return self._search.states()

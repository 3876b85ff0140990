"""Search orders, as the worklist sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar


class SearchState(Protocol):
    """What search orders read of a waiting state. States are hashed and compared by identity."""

    node: Any
    """The state's `Node` in the execution tree."""
    place: int
    """Number of the basic block where it waits."""
    depth: int
    """Forks on its path."""
    covered_new: bool
    instructions_since_new: int
    """About how many instructions ago its path, or one it came from, covered something new; 0: never."""


S = TypeVar("S", bound=SearchState)


class Search(Protocol[S]):
    """Which state next? Only the worklist tells a search order who waits."""

    @property
    def description(self) -> str:
        """Name as the user would write it, for the run's `info` file."""
        ...

    def add(self, states: Sequence[S]) -> None:
        """States that now wait; the last one is the newest."""
        ...

    def remove(self, state: S) -> None:
        """A waiting state is taken out (it was merged, pruned or given up)."""
        ...

    def pick(self) -> S:
        """The next state, which stops waiting. IndexError if none waits."""
        ...

    def __len__(self) -> int: ...

    def states(self) -> Iterator[S]:
        """All waiting states, in an order that is the same in every run."""
        ...

"""The four operators of the worklist algorithm, as the loop sees them.

Every technique is one of these: the loop knows the protocols only, and no technique knows another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from anabranch.explore.tree import Node

Goal = Literal["coverage", "bugs", "paths"]
GOALS: frozenset[Goal] = frozenset(("coverage", "bugs", "paths"))


@dataclass(frozen=True, slots=True)
class Contract:
    """What a reduction promises: what it keeps, what it may lose, and the goals it therefore serves."""

    keeps: str
    loses: str
    serves: frozenset[Goal]


EXACT = Contract(keeps="every path, exactly", loses="nothing", serves=GOALS)


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
S_contra = TypeVar("S_contra", bound=SearchState, contravariant=True)


class Search(Protocol[S]):
    """Which state next? Owns the set of waiting states."""

    @property
    def description(self) -> str:
        """Name as the user would write it, for the run's `info` file."""
        ...

    def add(self, states: Sequence[S]) -> None:
        """States that now wait; the last one is the newest."""
        ...

    def remove(self, state: S) -> None:
        """Take a waiting state out (it was merged, pruned or ended)."""
        ...

    def pick(self) -> S:
        """The next state, which stops waiting. IndexError if none waits."""
        ...

    def __len__(self) -> int: ...

    def states(self) -> Iterator[S]:
        """All waiting states, in an order that is the same in every run."""
        ...


class Machine(Protocol[S]):
    """What are the successors of a state?"""

    def advance(self, state: S) -> Iterable[S]:
        """Run to the next fork, join point, return or end; the states that go on from there."""
        ...


class Reduction(Protocol):
    """A technique that explores less than everything, and says what that costs."""

    contract: ClassVar[Contract]


class Merge(Reduction, Protocol[S]):
    """Join a state with which waiting states, and how?"""

    def join(self, state: S) -> S:
        """The state itself, or what it became by joining waiting states (which then wait no more)."""
        ...


class Prune(Reduction, Protocol[S_contra]):
    """Is everything that a state can still show already shown?"""

    def covers(self, state: S_contra) -> bool: ...


class NoMerge(Generic[S]):
    """Every state stays on its own."""

    contract: ClassVar[Contract] = EXACT

    def join(self, state: S) -> S:
        return state


class NoPrune(Generic[S]):
    """No state is redundant."""

    contract: ClassVar[Contract] = EXACT

    def covers(self, state: S) -> bool:
        return False


__all__ = [
    "EXACT",
    "GOALS",
    "Contract",
    "Goal",
    "Machine",
    "Merge",
    "NoMerge",
    "NoPrune",
    "Node",
    "Prune",
    "Reduction",
    "Search",
    "SearchState",
]

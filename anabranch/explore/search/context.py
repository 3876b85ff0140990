"""What search orders decide by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, NoReturn

from anabranch.explore.protocols import S, SearchState
from anabranch.explore.tree import ExecutionTree

UNREACHABLE = 10_000
"""Distance to uncovered code when there is none to reach."""


def _no_order(state: SearchState) -> NoReturn:
    raise ValueError("the topological order needs an order of locations")


def _everywhere(state: SearchState) -> int:
    return UNREACHABLE


def _nothing() -> int:
    return 0


@dataclass(frozen=True)
class SearchContext(Generic[S]):
    """What an exploration offers its search order."""

    seed: int
    tree: ExecutionTree
    counters: Sequence[int] = field(default=(), repr=False)
    """Executions of every block, by its number."""
    distance: Callable[[S], int] = _everywhere
    """How far a state is from code that is not yet covered, see `UncoveredDistance`."""
    target_distance: Callable[[S], int] = _everywhere
    """How far a state is from the lines of `--target`, see `Targets`."""
    fruitless: Mapping[int, int] = field(default_factory=dict, repr=False)
    """Turns from a block that covered nothing new, by the number of the block."""
    progress: Callable[[], int] = _nothing
    """A number that changes when something new was covered, or an error was reported."""
    order_key: Callable[[S], Any] = _no_order
    """What the topological order sorts by."""

    def random(self, name: str) -> Random:
        """A source of randomness of its own for every order, the same in every run."""
        return Random(f"{self.seed}:{name}")

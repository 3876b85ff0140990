"""From the names a user gives to a search order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Generic, NoReturn

from anabranch.explore.protocols import S, Search, SearchState
from anabranch.explore.search import weights
from anabranch.explore.search.interleave import Interleave
from anabranch.explore.search.nurs import Nurs
from anabranch.explore.search.places import Places
from anabranch.explore.search.plain import Bfs, Dfs, RandomState
from anabranch.explore.search.random_path import RandomPath
from anabranch.explore.search.topological import OrderKey, Topological
from anabranch.explore.tree import ExecutionTree

DEFAULT = ("random-path", "places")
ALIASES = {"covnew": "nurs:covnew", "md2u": "nurs:md2u"}


def _no_order(state: SearchState) -> NoReturn:
    raise ValueError("the topological order needs an order of places")


def _everywhere(state: SearchState) -> int:
    return weights.UNREACHABLE


@dataclass(frozen=True)
class SearchContext(Generic[S]):
    """What search orders look at.

    `counters` are the executions of every block by its number, `distance` tells how far a state is from code
    not yet covered (see `UncoveredDistance`), `fruitless` how often a turn from a block covered nothing new,
    `order_key` is what `Topological` sorts by.
    """

    seed: int
    tree: ExecutionTree
    counters: Sequence[int] = field(default=(), repr=False)
    distance: Callable[[S], int] = _everywhere
    fruitless: Mapping[int, int] = field(default_factory=dict, repr=False)
    order_key: OrderKey[S] = _no_order

    def random(self, name: str) -> Random:
        """A source of randomness of its own for every order, the same in every run."""
        return Random(f"{self.seed}:{name}")


ORDERS = (
    "dfs",
    "bfs",
    "random-state",
    "random-path",
    "nurs:covnew",
    "nurs:md2u",
    "nurs:depth",
    "nurs:rp",
    "nurs:icnt",
    "places",
    "topological",
)


def _make(name: str, context: SearchContext[S]) -> Search[S]:
    match name:
        case "dfs":
            return Dfs()
        case "bfs":
            return Bfs()
        case "random-state":
            return RandomState(context.random(name))
        case "random-path":
            return RandomPath(context.tree, context.random(name))
        case "topological":
            return Topological(context.order_key)
        case "places":
            return Places(context.distance, context.fruitless, context.random(name))
        case "nurs:covnew":
            weight = weights.covnew(context.distance, context.fruitless)
        case "nurs:md2u":
            weight = weights.md2u(context.distance)
        case "nurs:depth":
            weight = weights.depth
        case "nurs:rp":
            weight = weights.rp
        case "nurs:icnt":
            weight = weights.icnt(context.counters)
        case _:
            raise ValueError(f"unknown search order {name!r}; there are {', '.join(ORDERS)}")
    return Nurs(name, weight, context.random(name))


def make_search(names: Sequence[str], context: SearchContext[S]) -> Search[S]:
    """The order of that name, or several interleaved; ValueError with a message for the user otherwise."""
    wanted = [ALIASES.get(name, name) for name in names] or list(DEFAULT)
    for name in wanted:
        if wanted.count(name) > 1:
            raise ValueError(f"search order {name!r} given twice")
    orders = [_make(name, context) for name in wanted]
    return orders[0] if len(orders) == 1 else Interleave(orders)

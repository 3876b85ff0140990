"""Search orders by name: the command line, its help and `make_search` read this one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from anabranch.explore.protocols import S, Search
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.interleave import Interleave
from anabranch.explore.search.nurs import Nurs
from anabranch.registry import Registry

DEFAULT = ("random-path", "places", "rounds")

Order = Callable[[SearchContext[Any]], Search[Any]]
Weight = Callable[[SearchContext[Any]], Callable[[Any], float]]
MakesOrder = TypeVar("MakesOrder", bound=Order)
MakesWeight = TypeVar("MakesWeight", bound=Weight)

ORDERS: Registry[Order] = Registry("search order")


def search_order(name: str, *, help: str) -> Callable[[MakesOrder], MakesOrder]:
    """Register a class, or a function that makes one, as the search order `name`.

    It is called with a `SearchContext` and gives a `Search`.
    """

    def register(make: MakesOrder) -> MakesOrder:
        ORDERS.add(name, make, help)
        return make

    return register


def weight(name: str, *, help: str) -> Callable[[MakesWeight], MakesWeight]:
    """Register a weight as the search order `nurs:NAME`: states are picked in proportion to it.

    It is called with a `SearchContext` and gives a function from a state to a positive number, which may only
    fall while the state waits (see `Nurs`).
    """

    def register(make: MakesWeight) -> MakesWeight:
        full = f"nurs:{name}"
        ORDERS.add(full, lambda context: Nurs(full, make(context), context.random(full)), help)
        return make

    return register


def make_search(names: Sequence[str], context: SearchContext[S]) -> Search[S]:
    """The order of that name, or several interleaved; ValueError with a message for the user otherwise."""
    wanted = names or DEFAULT
    for name in wanted:
        if wanted.count(name) > 1:
            raise ValueError(f"search order {name!r} given twice")
    orders = [ORDERS.find(name)(context) for name in wanted]
    return orders[0] if len(orders) == 1 else Interleave(orders, context.progress)

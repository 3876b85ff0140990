"""Search orders: which waiting state goes on next. Importing the package registers the built-in ones."""

from anabranch.explore.search import places, plain, random_path, rounds, target, topological, weights
from anabranch.explore.search.context import UNREACHABLE, SearchContext
from anabranch.explore.search.registry import ORDERS, make_search, search_order, weight

__all__ = [
    "ORDERS",
    "UNREACHABLE",
    "SearchContext",
    "make_search",
    "places",
    "plain",
    "random_path",
    "rounds",
    "search_order",
    "target",
    "topological",
    "weight",
    "weights",
]

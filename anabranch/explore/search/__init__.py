"""Search orders: which waiting state goes on next."""

from anabranch.explore.search.factory import ORDERS, SearchContext, make_search

__all__ = ["ORDERS", "SearchContext", "make_search"]

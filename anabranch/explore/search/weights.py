"""Weights of `Nurs`, by KLEE's formulas. All of them only fall while a state waits."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.explore.protocols import S
from anabranch.explore.search.context import SearchContext
from anabranch.explore.search.registry import weight

RECENT = 1000
"""Instructions after covering something new during which a state counts as fully promising."""


@weight("covnew", help="random, by nearness to uncovered code and by how recently a path covered something")
def covnew(context: SearchContext[S]) -> Callable[[S], float]:
    """Near uncovered code, or has just covered something new.

    Code may be near and yet never reached, because no input leads there. So the more turns from a location
    have been fruitless, the less its states weigh.
    """
    distance, fruitless = context.distance, context.fruitless

    def weigh(state: S) -> float:
        steps = distance(state)
        near = 1.0 / (steps * steps) if steps > 1 else 1.0
        near /= 1 + fruitless.get(state.place, 0)
        since = state.instructions_since_new
        if since:
            since -= RECENT
            return near + (1.0 / (since * since) if since > 1 else 1.0)
        return near

    return weigh


@weight("md2u", help="random, by nearness to uncovered code")
def md2u(context: SearchContext[S]) -> Callable[[S], float]:
    """Near uncovered code."""
    distance = context.distance

    def weigh(state: S) -> float:
        steps = distance(state)
        return 1.0 / (steps * steps) if steps > 1 else 1.0

    return weigh


@weight("depth", help="random, deep paths first")
def depth(context: SearchContext[S]) -> Callable[[S], float]:
    """Deep in the tree."""
    return lambda state: float(state.depth or 1)


@weight("rp", help="random, by the depth that random-path goes by, finished sides included")
def rp(context: SearchContext[S]) -> Callable[[S], float]:
    """As random-path, on the depth that all forks gave, finished sides included; equal below depth 64."""
    return lambda state: 0.5 ** min(state.depth, 64)


@weight("icnt", help="random, seldom executed blocks first")
def icnt(context: SearchContext[S]) -> Callable[[S], float]:
    """At a block that was executed seldom."""
    counters = context.counters

    def weigh(state: S) -> float:
        count = counters[state.place]
        return 1.0 / (count * count) if count > 1 else 1.0

    return weigh

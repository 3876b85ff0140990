"""Weights of `Nurs`, by KLEE's formulas. All of them only fall while a state waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anabranch.explore.protocols import S, SearchState

UNREACHABLE = 10_000
"""Distance to uncovered code when there is none to reach."""

RECENT = 1000
"""Instructions after covering something new during which a state counts as fully promising."""

Distance = Callable[[S], int]
Weight = Callable[[S], float]


def covnew(distance: Distance[S], fruitless: Mapping[int, int]) -> Weight[S]:
    """Near uncovered code, or has just covered something new.

    Code may be near and yet never reached, because no input leads there. So the more turns from a place have
    been fruitless, the less its states weigh.
    """

    def weight(state: S) -> float:
        steps = distance(state)
        near = 1.0 / (steps * steps) if steps > 1 else 1.0
        near /= 1 + fruitless.get(state.place, 0)
        since = state.instructions_since_new
        if since:
            since -= RECENT
            return near + (1.0 / (since * since) if since > 1 else 1.0)
        return near

    return weight


def md2u(distance: Distance[S]) -> Weight[S]:
    """Near uncovered code."""

    def weight(state: S) -> float:
        steps = distance(state)
        return 1.0 / (steps * steps) if steps > 1 else 1.0

    return weight


def depth(state: SearchState) -> float:
    """Deep in the tree."""
    return float(state.depth or 1)


def rp(state: SearchState) -> float:
    """As random-path, on the depth that all forks gave, finished sides included; equal below depth 64."""
    return 0.5 ** min(state.depth, 64)


def icnt(counters: Sequence[int]) -> Weight[SearchState]:
    """At a block that was executed seldom."""

    def weight(state: SearchState) -> float:
        count = counters[state.place]
        return 1.0 / (count * count) if count > 1 else 1.0

    return weight

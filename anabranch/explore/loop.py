"""The worklist algorithm that all techniques are instances of (seed 001, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.explore.protocols import Machine, Merge, Prune, S, Search


def explore_states(
    search: Search[S],
    machine: Machine[S],
    merge: Merge[S],
    prune: Prune[S],
    go_on: Callable[[], bool],
) -> None:
    """Explore until nothing waits or `go_on` says stop."""
    while len(search) and go_on():
        state = search.pick()
        for successor in machine.advance(state):
            if prune.covers(successor):
                continue
            search.add([merge.join(successor)])

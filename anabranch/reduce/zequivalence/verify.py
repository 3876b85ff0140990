"""Shadow mode: a state that is to be removed is explored all the same, and so is its representative.

A pair with too many paths to compare is counted as not decided.
"""

from __future__ import annotations

from collections.abc import Callable

from anabranch.machine import Machine, State
from anabranch.reduce.shadow import Shadow
from anabranch.reduce.zequivalence.calls import Call


class ShadowVerifier:
    """Compares removed states with their representatives, and tells of differences."""

    def __init__(self, machine: Machine, report: Callable[[str], None], over: Callable[[], bool]) -> None:
        self.shadow = Shadow(machine, over)
        self.report = report
        self.verified = 0
        self.undecided = 0
        self.differences = 0

    def __call__(self, kept: State, removed: State, call: Call) -> None:
        one = self.shadow.explore(kept)
        other = self.shadow.explore(removed) if one is not None else None
        if one is None or other is None:
            self.undecided += 1
            return
        problem = one.difference(other)
        if problem is None:
            self.verified += 1
        else:
            self.differences += 1
            self.report(f"a state behind a call of {call.function} was wrongly removed: {problem}")

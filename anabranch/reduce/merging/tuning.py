"""The numbers of merging that were tuned, all in one module; tests and oracles take others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time


@dataclass(frozen=True, slots=True)
class LaneShares:
    """How the lanes of dual exploration take turns."""

    first: float = 0.05
    """Seconds that the plain lane is ahead: what it takes to begin with merging (estimates, a solver)."""
    merging: float = 1.2
    """Seconds of the merging lane for one of the plain lane. The merging lane takes a tenth more than alone
    until it finishes, because it shares the caches (measured on url and trim of the loops, M=50)."""
    turns: int = 64
    """Of the plain lane, until the times are compared again."""
    merged_turns: int = 8
    """Likewise of the merging lane, whose turns take longer."""
    clock: Callable[[], float] = process_time
    """What the time is measured with."""


@dataclass(frozen=True, slots=True)
class FamilyShares:
    """What dynamic merging may take of a run."""

    turns: int = 128
    """Of the states that come of one choice, until the driving order chooses again."""
    share: float = 0.25
    """Of the time of a limited run."""
    longest: float = 0.125
    """Of that share, for one family."""


@dataclass(frozen=True, slots=True)
class LedgerRules:
    """When merging at a location is given up."""

    enough_turns: int = 40
    """Turns before a location is judged."""
    dear: float = 400
    """Effort of the solver a turn, about 20 ms, that is too much whatever came before."""


@dataclass(frozen=True, slots=True)
class MergeTuning:
    lanes: LaneShares = field(default_factory=LaneShares)
    families: FamilyShares = field(default_factory=FamilyShares)
    ledger: LedgerRules = field(default_factory=LedgerRules)


DEFAULT = MergeTuning()

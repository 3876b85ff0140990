"""The numbers of merging that were tuned, all in one module; tests and oracles take others."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LaneShares:
    """How the work is divided between the lanes of dual exploration. Work is in about microseconds."""

    first: float = 150_000
    """What it takes to begin with merging: estimates, a decision procedure."""
    long: float = 6_000_000
    """Work after which a program counts as too large to be explored path by path."""
    share: float = 0.12
    """Of the work of plain exploration, that merging may take until then."""
    patience: float = 10
    """Times the work of plain exploration, that merging may take from then on."""
    turns: int = 64
    """Of the plain lane, until the work is compared again."""
    merged_turns: int = 8
    """Likewise of the merging lane, whose turns take longer."""


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

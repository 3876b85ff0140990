"""What one exploration of a program counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from anabranch.explore.limits import Losses


@dataclass(slots=True)
class Tally:
    """How paths ended, and what was lost."""

    exits: int = 0
    failures: int = 0
    early: int = 0
    silent: int = 0
    multiplicity: int = 0
    """Of the states that ended: how many paths they stand for (seed 001, 5.2)."""
    exact_paths: int = 0
    """As far as they were told apart."""
    counted: list[tuple[int, int]] = field(default_factory=list)
    """Multiplicity and paths so far, as joined states end."""
    ends: dict[str, int] = field(default_factory=dict)
    losses: Losses = field(default_factory=Losses)

    @property
    def total(self) -> int:
        return self.exits + self.failures + self.early

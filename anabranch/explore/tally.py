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
    """Paths that the engine ended where it could not follow them further."""
    silent: int = 0
    left: int = 0
    """States that still waited when a limit was reached, or that ended for the sake of memory."""
    multiplicity: int = 0
    """Of the states that ended: how many paths they stand for, at most."""
    exact_paths: int = 0
    """As far as they were told apart."""
    counted: list[tuple[int, int]] = field(default_factory=list)
    """Multiplicity and paths so far, as merged states end."""
    losses: Losses = field(default_factory=Losses)

    @property
    def total(self) -> int:
        """The paths that ended."""
        return self.exits + self.failures + self.early


class TallyOwner:
    """Holds the tally in which paths are counted now: dual exploration has one for each of its lanes."""

    __slots__ = ("tally",)

    def __init__(self) -> None:
        self.tally = Tally()

"""What detection costs and what it saves, counted in work and not in time, so that runs repeat.

A unit is the time that it takes to run the code of one item of a tape, about a quarter of a microsecond. What
the other steps take was measured once, on tokens, key_value, paste and cut.
"""

from __future__ import annotations

FORK = 80
TAPE = 0.15  # of what is explored: to write the tape, and to copy it at forks
ITEM = 8  # to go over one backwards
SNAPSHOT = 400
LOOK_UP = 200
HEAD_START = 4_000_000  # about a second
PATIENCE = 0.05  # of what is explored may be lost as well
CREDIT = 0.5  # of what dropped states would have taken, which is an estimate


class Ledger:
    """Tells whether detection pays."""

    __slots__ = ("explored", "items", "looked_up", "saved", "snapshots")

    def __init__(self) -> None:
        self.explored = 0
        """What the paths so far would have taken without detection."""
        self.saved = 0
        """What the states that were dropped would have taken, as far as their matches tell."""
        self.items = 0
        """Items that were gone over backwards."""
        self.snapshots = 0
        """How many were made."""
        self.looked_up = 0
        """States that were compared with some."""

    @property
    def spent(self) -> int:
        """What detection has taken, the tape included."""
        tape = int(TAPE * self.explored)
        return tape + ITEM * self.items + SNAPSHOT * self.snapshots + LOOK_UP * self.looked_up

    @property
    def pays(self) -> bool:
        """Is what was spent covered by what was saved, after a head start?"""
        return self.spent <= HEAD_START + PATIENCE * self.explored + CREDIT * self.saved

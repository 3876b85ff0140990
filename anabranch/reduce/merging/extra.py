"""What merging keeps on every state."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from anabranch.machine import State
from anabranch.machine.joining import chain_length
from anabranch.machine.state import Cons, Extras, Slot


class MergeExtra:
    """Shared by forks, so that a change makes a new one."""

    __slots__ = ("armed", "merged_at", "recent")

    def __init__(self, armed: Cons = None, recent: tuple[Hashable, ...] = (), merged_at: int = -1) -> None:
        self.armed = armed
        """The join points where the path is to stop, a chain of `JoinPoint`, innermost first."""
        self.recent = recent
        """Keys of the last locations that the path passed, oldest first (dynamic merging); in static merging
        the header of the loop where it stopped to meet paths that took more or fewer rounds."""
        self.merged_at = merged_at
        """The location where states were last merged into this one; -1: never."""


def join_extras(a: State, b: State, mine: MergeExtra, other: MergeExtra) -> MergeExtra:
    return MergeExtra(max(mine.armed, other.armed, key=chain_length), mine.recent, a.place)


def extra_slot(extras: Extras) -> Slot[MergeExtra]:
    return extras.slot(MergeExtra(), join_extras)


def with_recent(extra: MergeExtra, key: Any, delta: int) -> MergeExtra:
    """The last `delta` keys, with one more."""
    return MergeExtra(extra.armed, (*extra.recent[1 - delta :], key), extra.merged_at)


def disarmed(extra: MergeExtra) -> MergeExtra:
    """The path stops nowhere any more."""
    return MergeExtra(None, extra.recent, extra.merged_at)

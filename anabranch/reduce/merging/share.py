"""The share of limited time that merging has."""

from __future__ import annotations

from time import monotonic

SHARE = 0.25  # of the time of the run
FAMILY_SHARE = 0.125  # of that, for one family


class TimeShare:
    """Seconds with merging and without, of a run of limited time."""

    def __init__(self, seconds: float) -> None:
        self._longest = FAMILY_SHARE * SHARE * seconds
        self._with = self._without = 0.0
        self._since = monotonic()

    def left(self, merging: bool) -> bool:
        """May merging go on? `merging`: was the time since the last call spent with it?"""
        now = monotonic()
        passed, self._since = now - self._since, now
        if merging:
            self._with += passed
        else:
            self._without += passed
        return self._with <= SHARE * (self._with + self._without)

    def exceeded(self) -> bool:
        """Has what began at the last call taken longer than one family may?"""
        return monotonic() - self._since > self._longest

"""What has been covered since the last check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter


def _nothing(counters: Sequence[int]) -> tuple[int, ...]:
    return ()


class NewCoverage:
    """Watches counters that are still 0, also those added later. A check costs about 10 ns for each.

    `accept` tells which counters matter, by number; `listeners` are told of what a check finds.
    """

    __slots__ = ("_accept", "_counters", "_listeners", "_read", "_size", "_uncovered", "version")

    def __init__(
        self,
        counters: Sequence[int],
        accept: Callable[[int], bool] = lambda number: True,
        listeners: Sequence[Callable[[Sequence[int]], None]] = (),
    ) -> None:
        self._counters = counters
        self._accept = accept
        self._listeners = listeners
        self._size = 0
        self._uncovered: list[int] = []
        self._read: Callable[[Sequence[int]], Iterable[int]] = _nothing
        self.version = 0
        """Changes whenever a check found something new: covered, or to be covered."""

    @property
    def uncovered(self) -> Sequence[int]:
        """Counters that were 0 at the last check."""
        return self._uncovered

    def check(self) -> list[int]:
        """Counters that have left 0 since the last check."""
        counters = self._counters
        size = len(counters)
        if size != self._size:
            self._change(self._uncovered + [n for n in range(self._size, size) if self._accept(n)])
            self._size = size
        if not any(self._read(counters)):
            return []
        found = [number for number in self._uncovered if counters[number]]
        self._change([number for number in self._uncovered if not counters[number]])
        for hear in self._listeners:
            hear(found)
        return found

    def _change(self, uncovered: list[int]) -> None:
        self._uncovered = uncovered
        self.version += 1
        # The first number is given twice, because itemgetter with a single one does not give a tuple.
        self._read = itemgetter(uncovered[0], *uncovered) if uncovered else _nothing

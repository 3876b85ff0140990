"""When to stop, which states to give up when memory runs short, and the count of everything lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import nsmallest
from time import monotonic
from typing import Protocol

from anabranch.explore.protocols import S
from anabranch.explore.settings import LimitSettings
from anabranch.process_memory import release_memory, resident_bytes

MEGABYTE = 1_000_000


class Totals(Protocol):
    """What a run has used so far."""

    @property
    def instructions(self) -> int: ...
    @property
    def tests(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class Limits:
    """Compares a run with its limits. Nothing here interrupts: the loop asks between two states."""

    HARD = 1.5
    """Ending states must hold the process below this multiple of the memory limit, or the run ends."""
    ROOM = 0.9
    """What may be in use after caches were dropped; above it they would be dropped again and again."""

    def __init__(
        self,
        settings: LimitSettings,
        clock: Callable[[], float] = monotonic,
        memory: Callable[[], int] = resident_bytes,
        release: Callable[[], None] = release_memory,
        started: float | None = None,
    ) -> None:
        """`started`: the time on the clock when the run began, if not now."""
        self.settings = settings
        self._clock = clock
        self._memory = memory
        self._release = release
        self._start = clock() if started is None else started
        self._most = self._ceiling = settings.memory * MEGABYTE

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return self._clock() - self._start

    @property
    def time_is_up(self) -> bool:
        return self.settings.time is not None and self.seconds >= self.settings.time

    def check(self, totals: Totals) -> str | None:
        """Name of the limit that is reached, or None."""
        limits = self.settings
        if self.time_is_up:
            return "max-time"
        if limits.instructions is not None and totals.instructions >= limits.instructions:
            return "max-instructions"
        if limits.tests is not None and totals.tests >= limits.tests:
            return "max-tests"
        if self._memory() > self._most * self.HARD:
            self._release()
            if self._memory() > self._most * self.HARD:
                return "max-memory"
        return None

    def states_to_end(self, waiting: int) -> int:
        """How many waiting states to end for the sake of memory.

        Enough for the excess if all were equally large, at least a tenth. What Python frees it uses again but
        seldom gives back to the system, so after states were ended nothing more is asked for until the
        process has grown by another 2%.
        """
        used = self._memory() if waiting else 0
        if used <= self._ceiling:
            return 0
        self._ceiling = used + used // 50
        return min(waiting, max(waiting // 10, waiting * (used - self._most) // used, 1))

    def short_of_memory(self) -> bool:
        """Is too much in use although caches were dropped and what is free was given back?"""
        self._release()
        used = self._memory()
        self._ceiling = max(self._most, used + used // 50)
        return used > self._most * self.ROOM


def least_promising(states: Iterable[S], count: int) -> list[S]:
    """The states to end first when memory runs short.

    First those whose path has covered nothing new since its last test, then those whose path has gone longest
    without covering anything new (never counts as longest), then the deepest, then those given last.
    """

    def rank(entry: tuple[int, S]) -> tuple[bool, bool, int, int, int]:
        position, state = entry
        since = state.instructions_since_new
        return (state.covered_new, since > 0, -since, -state.depth, -position)

    return [state for _, state in nsmallest(count, enumerate(states), key=rank)]


class Losses:
    """Everything a run left unexplored: kind -> location -> how often. A run without any is complete."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, int]] = {}

    def add(self, kind: str, location: str = "", count: int = 1) -> None:
        locations = self._counts.setdefault(kind, {})
        locations[location] = locations.get(location, 0) + count

    @property
    def total(self) -> int:
        return sum(sum(locations.values()) for locations in self._counts.values())

    def __bool__(self) -> bool:
        return bool(self._counts)

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Kind -> location -> count, sorted."""
        return {kind: dict(sorted(locations.items())) for kind, locations in sorted(self._counts.items())}

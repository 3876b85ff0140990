"""The numbers for one location, and for a whole stack of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anabranch.analysis.addresses import Base
from anabranch.reduce.qce.parameters import QceParameters

Location = int | tuple[int, int]
"""The entry of a block once its phis are assigned, or the point after an instruction (block, instruction)."""

Cell = tuple[int, int, float]
"""Offset, size, count."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Query counts of one function from one location to the function's return.

    All numbers are multiples of 2 ** exponent, which is 0 unless they are beyond any use: what matters is
    their share of `total`. Variables that no query depends on are left out: their count is 0.
    """

    total: float = 0.0
    """Q_t."""
    locals: Mapping[int, float] = field(default_factory=dict)
    """Q_add of SSA values, by index."""
    memory: Mapping[tuple[Base, int], float] = field(default_factory=dict)
    """Q_add of memory at an offset of a base, loads at unknown offsets included."""
    cells: Mapping[Base, Sequence[Cell]] = field(default_factory=dict)
    """The same by base, with sizes; in a base of `any_offset` also cells that are written before they are
    read, with count 0."""
    any_offset: Mapping[Base, float] = field(default_factory=dict)
    """Q_add of bytes of a base that `memory` does not cover."""
    extents: Mapping[Base | None, float] = field(default_factory=dict)
    """Q_add of the size of the object that a base points into; None: of those that `heap` is about."""
    heap: float = 0.0
    """Q_add of memory that is reached through pointers in memory, or that calls return."""
    exponent: int = 0

    def of(self, local: int) -> float:
        return self.locals.get(local, 0.0)

    def byte(self, base: Base, offset: int) -> float:
        """Q_add of one byte at an offset of a base."""
        covering = [own for start, size, own in self.cells.get(base, ()) if start <= offset < start + size]
        return max(covering) if covering else self.any_offset.get(base, 0.0)

    @property
    def bases(self) -> set[Base]:
        """Bases of which some query depends on the memory or the size."""
        sized = {base for base in self.extents if base is not None}
        return sized.union(self.cells, self.any_offset)

    def hot(self, parameters: QceParameters, total: float | None = None) -> Hot:
        """H(l): variables whose count is more than alpha of all (or of `total`, on this one's scale)."""
        limit = parameters.alpha * (self.total if total is None else total)
        return Hot(
            frozenset(v for v, count in self.locals.items() if count > limit),
            frozenset(v for v, count in self.memory.items() if count > limit),
            frozenset(v for v, count in self.any_offset.items() if count > limit),
            self.heap > limit,
        )


@dataclass(frozen=True, slots=True)
class Hot:
    """The hot variables of a location in one frame."""

    locals: frozenset[int]
    memory: frozenset[tuple[Base, int]]
    any_offset: frozenset[Base]
    heap: bool


NO_COUNTS = Counts()


class GlobalCounts:
    """Counts of a whole stack: the location of the innermost frame and the return locations of its callers.

    Local counts end where their function returns, so the queries to come are those of the innermost frame
    up to its return, then those of its caller from the return location on, and so on: Q_t is the sum over
    the frames. A value of a frame is seen by that frame only, and its count is the local one. Memory is
    seen by all of them, each under the bases it has for it; its count is the sum over the frames of the
    largest in each. Everything is on one scale, that of the frame with the largest exponent.
    """

    __slots__ = ("_factors", "exponent", "frames", "total")

    def __init__(self, frames: Sequence[Counts]) -> None:
        self.frames = tuple(frames)
        """Outermost first."""
        self.exponent = max((f.exponent for f in self.frames), default=0)
        self._factors = [2.0 ** (f.exponent - self.exponent) for f in self.frames]
        self.total = sum(f.total * factor for f, factor in zip(self.frames, self._factors, strict=True))

    def of(self, frame: int, local: int) -> float:
        """Q_add of a value of one frame."""
        return self.frames[frame].of(local) * self._factors[frame]

    def byte(self, names: Iterable[tuple[int, Base, int]], share: float) -> float:
        """Q_add of a byte by all that name it: frame, base and offset.

        `share`: of the reads through pointers in memory, how many may mean it. Any allocated object can be
        reached by those, and the locals and globals of which `QueryCounts.escapes` says so.
        """
        largest = dict.fromkeys(range(len(self.frames)), 0.0) if share else {}
        for frame in largest:
            largest[frame] = self.frames[frame].heap * self._factors[frame] * share
        for frame, base, offset in names:
            count = self.frames[frame].byte(base, offset) * self._factors[frame]
            largest[frame] = max(largest.get(frame, 0.0), count)
        return sum(largest.values())

    def extent(self, names: Iterable[tuple[int, Base]], share: float) -> float:
        """Q_add of the size of an object by all that name it, frame and base; `share` as in `byte`."""
        largest = [
            frame.extents.get(None, 0.0) * share * factor
            for frame, factor in zip(self.frames, self._factors, strict=True)
        ]
        for frame, base in names:
            largest[frame] = max(
                largest[frame], self.frames[frame].extents.get(base, 0.0) * self._factors[frame]
            )
        return sum(largest)

    @property
    def heap(self) -> float:
        return sum(f.heap * factor for f, factor in zip(self.frames, self._factors, strict=True))

    def hot(self, parameters: QceParameters) -> tuple[Hot, ...]:
        """Hot variables frame by frame, each count against alpha of the total of all frames."""
        return tuple(
            frame.hot(parameters, self.total / factor if factor else float("inf"))
            for frame, factor in zip(self.frames, self._factors, strict=True)
        )


def similar(
    total: float,
    concretely_differing: Iterable[float],
    symbolically_differing: Iterable[float],
    parameters: QceParameters,
) -> bool:
    """Is a merge worth its cost, by equation 7? Given are Q_t, the counts Q_add of the variables whose values
    are concrete and differ, and the counts Q_ite (the same numbers) of those that differ and are symbolic in
    at least one state.

    Without a cost there is nothing to lose, also where no query is ahead.
    """
    cost = (parameters.zeta - 1.0) * max(symbolically_differing, default=0.0)
    cost += max(concretely_differing, default=0.0)
    return cost == 0.0 or cost < parameters.alpha * total

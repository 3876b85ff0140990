"""What a function without a body depends on and changes, as whoever models it declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Inside:
    """The objects that pointers in an argument's object lead to (the buffers of `readv`)."""

    argument: int


@dataclass(frozen=True, slots=True)
class From:
    """What the arguments from this one on point into (those behind a format)."""

    argument: int


@dataclass(frozen=True, slots=True)
class Static:
    """The environment's own variable of that name (`errno`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the kernel's state: its kind, and the argument that says which one there is of that kind (a
    descriptor). Without an argument it may be any of them."""

    kind: str
    argument: int | None = None


class Other(Enum):
    """Places that need no more to be said of."""

    MADE = "an object that the call makes"
    OUTSIDE = "all that the environment has pointers to"


MADE, OUTSIDE = Other.MADE, Other.OUTSIDE

Place: TypeAlias = int | Inside | From | Static | Part | Other
"""Something that is read or written; a number is the object that this argument (from 0) points into."""

NOWHERE: frozenset[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class Effects:
    """A declaration. What the arguments are themselves always counts as read."""

    reads: frozenset[Place] = NOWHERE
    """What the result depends on, and everything that is written."""
    writes: frozenset[Place] = NOWHERE
    """What may be changed."""
    passes: frozenset[tuple[Place, Place]] = frozenset()
    """(from, to): contents that are handed on and looked at no further, so that nothing but `to` depends on
    them. `to` is one of `writes`. Pointers among the contents may be found in `to` afterwards."""
    points: frozenset[Place] = NOWHERE
    """What the result may point into."""
    puts: frozenset[tuple[Place, Place]] = frozenset()
    """(what, where): a pointer into `what` may be written into `where` (the end that `strtol` tells)."""
    keeps: frozenset[int] = frozenset()
    """Arguments that are remembered: pointers that other functions may use, functions that may be called."""
    ends: frozenset[int] = frozenset()
    """Arguments whose objects end (`free`)."""

    def __or__(self, other: Effects) -> Effects:
        """The effects of a call that is one or the other."""
        return Effects(*(getattr(self, name) | getattr(other, name) for name in self.__slots__))

    def with_arguments(self, positions: Mapping[int, int]) -> Effects:
        """The effects of a function that has these arguments elsewhere (old -> new), and others fixed: what
        belongs to a fixed argument belongs to no pointer, and is any part of its kind."""

        def places(old: Iterable[Place]) -> list[Place]:
            found = [_moved(place, positions) for place in old]
            return [place for place in found if place is not None]

        def pairs(old: Iterable[tuple[Place, Place]]) -> list[tuple[Place, Place]]:
            found = [(_moved(a, positions), _moved(b, positions)) for a, b in old]
            return [(a, b) for a, b in found if a is not None and b is not None]

        return effects(
            places(self.reads),
            places(self.writes),
            pairs(self.passes),
            places(self.points),
            pairs(self.puts),
            [positions[argument] for argument in self.keeps if argument in positions],
            [positions[argument] for argument in self.ends if argument in positions],
        )


def _moved(place: Place, positions: Mapping[int, int]) -> Place | None:
    if isinstance(place, int):
        return positions.get(place)
    if isinstance(place, Inside):
        return Inside(positions[place.argument]) if place.argument in positions else None
    if isinstance(place, From):
        return From(min(new for old, new in positions.items() if old >= place.argument))
    if isinstance(place, Part) and place.argument is not None:
        return Part(place.kind, positions.get(place.argument))
    return place


def effects(
    reads: Iterable[Place] = (),
    writes: Iterable[Place] = (),
    passes: Iterable[tuple[Place, Place]] = (),
    points: Iterable[Place] = (),
    puts: Iterable[tuple[Place, Place]] = (),
    keeps: Iterable[int] = (),
    ends: Iterable[int] = (),
) -> Effects:
    """A declaration from any collections."""
    return Effects(
        frozenset(reads),
        frozenset(writes),
        frozenset(passes),
        frozenset(points),
        frozenset(puts),
        frozenset(keeps),
        frozenset(ends),
    )


PURE = Effects()
"""The result depends on the arguments alone."""

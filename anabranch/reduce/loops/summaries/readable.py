"""What a summary says, for people: `s[i] == 'a' for all i < k; s[k] != 'a'`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.reduce.loops.summaries.rounds import Leg, Rounds
from anabranch.reduce.loops.synthesis import synthesise
from anabranch.reduce.loops.text import text

MOST = 64  # rounds that are looked at
LONGEST = 300  # letters that are still readable


def readable(rounds: Rounds, legs: Mapping[int, Leg]) -> str | None:
    """The rounds up to k and the one at k by one edge; None if they are not alike. The first and the last one
    may look different, because constants in them are folded."""
    first = rounds.position.first
    positions = [w for w in sorted(legs)[1:-1][:MOST] if rounds.spine[w - first].condition is not False]
    if len(positions) < 2:
        return None
    spine = _pattern([rounds.spine[w - first] for w in positions], positions, "i")
    leg = _pattern([legs[w] for w in positions], positions, "k")
    if spine is None or leg is None:
        return None
    start = "" if rounds.position.fixed else " from where an earlier loop stopped"
    found = f"{spine} for all i < k{start}; {leg}"
    return found if len(found) <= LONGEST else None


def _pattern(legs: Sequence[Leg], positions: Sequence[int], name: str) -> str | None:
    found = synthesise([leg.condition for leg in legs], positions, 1)
    return None if found is None else text(found.body, name)

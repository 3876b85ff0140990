"""What was found in which loop, for `--merge-report` and `run.json`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.machine import State
from anabranch.machine.joining import CannotJoin
from anabranch.reduce.loops.groups import ByPattern, QuantifiedPattern

MOST_PATTERNS = 4  # shown of an exit
MOST_STATES = 64  # of a group whose pattern is looked for only to be shown


@dataclass(slots=True)
class Exit:
    """One location where states that left a loop became fewer."""

    joins: int = 0
    states: int = 0
    patterns: dict[str, None] = field(default_factory=dict)
    """Of the conditions, readable."""


class Exits:
    """All of them, by location."""

    def __init__(self, show_patterns: bool) -> None:
        self._show_patterns = show_patterns
        self._found: dict[int, Exit] = {}

    def joined(self, states: Sequence[State]) -> None:
        """States became one."""
        found = self._found.setdefault(states[0].place, Exit())
        found.joins += 1
        found.states += len(states)
        if self._show_patterns and len(found.patterns) < MOST_PATTERNS:
            found.patterns.update(dict.fromkeys(patterns_of(states[:MOST_STATES])))

    def rows(self, describe: Callable[[int], str]) -> list[dict[str, Any]]:
        """As plain data, the most states first."""
        rows = [
            {
                "location": describe(place),
                "joins": found.joins,
                "states": found.states,
                "patterns": list(found.patterns),
            }
            for place, found in self._found.items()
        ]
        return sorted(rows, key=lambda row: (-int(row["states"]), str(row["location"])))


def patterns_of(states: Sequence[State]) -> list[str]:
    """The formula patterns of the conditions of some states, as text."""
    try:
        groups = ByPattern({}).groups(states)
    except CannotJoin:
        return []
    return [g.pattern.formula.readable() for g in groups if isinstance(g.pattern, QuantifiedPattern)]

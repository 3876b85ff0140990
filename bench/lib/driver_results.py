"""What runs of drivers gave, one JSON line each, and how two ways of exploring compare on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import geometric_mean, mean, median
from typing import Any

Key = tuple[str, str, int, int, bool]
INSTANT = 0.001  # seconds: what is faster counts as this


@dataclass(frozen=True)
class Error:
    """An error that a run has found, and what its test did natively."""

    kind: str
    file: str
    line: int
    replayed: str
    """`as predicted`, or what is different."""

    @property
    def place(self) -> tuple[str, str, int]:
        return self.kind, self.file, self.line


@dataclass(frozen=True)
class Result:
    """One driver in one mode."""

    driver: str
    mode: str
    capacity: int
    seconds: int
    verified_run: bool
    """Was every merge proved?"""
    complete: bool
    explore: float
    """CPU seconds of exploring; until the limit if not `complete`."""
    lines: int
    """Lines covered."""
    paths: int
    """Paths and merged states at the end."""
    merges: int
    joins: int
    errors: tuple[Error, ...] = ()
    losses: dict[str, int] = field(default_factory=dict)
    proved: int = 0
    undecided: int = 0
    wrong: int = 0
    failure: str = ""
    """Why there is no result."""

    @property
    def key(self) -> Key:
        return self.driver, self.mode, self.capacity, self.seconds, self.verified_run

    @property
    def places(self) -> frozenset[tuple[str, str, int]]:
        return frozenset(error.place for error in self.errors)


def read_results(file: Path) -> dict[Key, Result]:
    """The results of a run that may have been cut; a line that was not written to its end is left out."""
    found: dict[Key, Result] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            entry: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        entry["errors"] = tuple(Error(**error) for error in entry["errors"])
        result = Result(**entry)
        found[result.key] = result
    return found


def add_result(file: Path, result: Result) -> None:
    with open(file, "a") as out:
        out.write(json.dumps(asdict(result)) + "\n")


@dataclass(frozen=True)
class Comparison:
    """One mode against another on some drivers, as in the paper's tables 3 to 7.

    Times are compared where either is complete, coverage where either is not. A run that is cut counts with
    the time that it had: its speed-up is a bound.
    """

    drivers: int
    speedups: tuple[float, ...]
    saved: float
    coverage: tuple[float, ...]
    """Percent of lines more."""
    more_lines: int

    def time_cells(self) -> list[object]:
        if not self.speedups:
            return [f"0/{self.drivers}", "-", "-", "-", "-", "-"]
        each = (geometric_mean(self.speedups), median(self.speedups), min(self.speedups), max(self.speedups))
        count = f"{len(self.speedups)}/{self.drivers}"
        return [count, *(f"{number:.2f}" for number in each), f"{self.saved:.1f}"]

    def coverage_cells(self) -> list[object]:
        if not self.coverage:
            return [f"0/{self.drivers}", "-", "-", "-", "-", "-"]
        each = (mean(self.coverage), median(self.coverage), min(self.coverage), max(self.coverage))
        count = f"{len(self.coverage)}/{self.drivers}"
        return [count, *(f"{number:.2f}" for number in each), str(self.more_lines)]


COMPARED = (
    "time: #", "average", "median", "min", "max", "s saved", "coverage: #", "average %", "median", "min",
    "max", "lines",
)  # fmt: skip


def compare(pairs: Iterable[tuple[Result, Result]]) -> Comparison:
    """The first of each pair against the second. Runs without a result are left out."""
    both = [(one, other) for one, other in pairs if not one.failure and not other.failure]
    ended = [(one, other) for one, other in both if one.complete or other.complete]
    cut = [(one, other) for one, other in both if not (one.complete and other.complete)]
    return Comparison(
        len(both),
        tuple(max(other.explore, INSTANT) / max(one.explore, INSTANT) for one, other in ended),
        sum(other.explore - one.explore for one, other in ended),
        tuple(100 * (one.lines / max(1, other.lines) - 1) for one, other in cut),
        sum(one.lines - other.lines for one, other in cut),
    )


def disagreements(results: Sequence[Result]) -> list[str]:
    """Modes on one driver: what a complete run has not found cannot be there, and all that are complete find
    the same errors."""
    found = []
    for whole in results:
        if not whole.complete:
            continue
        for other in results:
            more = sorted(other.places - whole.places)
            found += [
                f"{whole.driver}: {other.mode} has {kind} at {file}:{line}, {whole.mode} is complete without"
                for kind, file, line in more
            ]
    return found

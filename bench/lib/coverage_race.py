"""Coverage of a program against CPU time: two ways of exploring it, and what one gains on the other.

    python -m bench.lib.coverage_race SOURCE SECONDS ARGUMENTS...

explores (`anabranch run ARGUMENTS`) until so many seconds of CPU time are used up and prints the coverage on
the way as JSON: that of the program's own instructions, and of the lines of its SOURCE.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.report.events import Collector, Progress, TestCase
from bench.lib.engine import ROOT, EngineFailure

STEP = 0.2
"""Seconds of CPU time between two points."""


@dataclass(frozen=True)
class Point:
    """What is covered after so many seconds of CPU time."""

    seconds: float
    instructions: int
    lines: int


@dataclass(frozen=True)
class Course:
    """One exploration."""

    points: tuple[Point, ...]
    executed: int
    states: int
    paths: int
    queries: int
    solver: float
    complete: bool
    lines: frozenset[int] = frozenset()
    """Lines of the program's own source that were covered."""
    wanted: int = 0
    """How many it has."""
    instructions: int = 0
    """Instructions that the program has."""
    reductions: dict[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.points[-1].seconds

    def reached(self, what: str, count: int) -> float:
        """When so many instructions or lines were covered; the time of the last point if never."""
        return next((p.seconds for p in self.points if getattr(p, what) >= count), self.seconds)

    def last(self, what: str) -> int:
        found: int = getattr(self.points[-1], what)
        return found


@dataclass(frozen=True)
class Comparison:
    """Two courses of one program, as the paper compares them."""

    name: str
    plain: Course
    reduced: Course

    def common(self, what: str) -> int:
        """The most that both cover."""
        return min(self.plain.last(what), self.reduced.last(what))

    def speedup(self, what: str) -> float:
        """How many times earlier the reduced one covers what both cover."""
        count = self.common(what)
        return max(self.plain.reached(what, count), STEP) / max(self.reduced.reached(what, count), STEP)

    def gain(self, what: str) -> float:
        """Percentage points of coverage."""
        total = self.plain.wanted if what == "lines" else self.plain.instructions
        return 100 * (self.reduced.last(what) - self.plain.last(what)) / max(total, 1)


def course(source: str, seconds: float, arguments: Sequence[str]) -> Course:
    """Explore in a process of its own."""
    command = [sys.executable, "-m", "bench.lib.coverage_race", source, f"{seconds:g}", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise EngineFailure(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    data = json.loads(done.stdout)
    points = tuple(Point(*point) for point in data.pop("points"))
    return Course(points, lines=frozenset(data.pop("lines")), **data)


class Watch(Collector):
    """Notes what is covered, and stops the exploration when its time is up."""

    def __init__(self, source: str, seconds: float) -> None:
        super().__init__()
        self.source, self.limit = source, seconds
        self.exploration: Any = None
        self.points: list[tuple[float, int, int]] = []

    def on_test(self, test: TestCase) -> int:
        return 1  # none is kept

    def on_progress(self, progress: Progress) -> None:
        if not self.points or progress.cpu_seconds - self.points[-1][0] >= STEP:
            self.note()
        if progress.cpu_seconds >= self.limit:
            self.exploration.housekeeping.stop("time")

    def note(self) -> None:
        table, counters = self.exploration.table, self.exploration.machine.counters.N
        lines = sum(file == self.source for file, _ in table.lines_covered(counters))
        seconds = self.exploration.figures.cpu_seconds
        self.points.append((seconds, table.instruction_coverage(counters)[0], lines))


def main(argv: Sequence[str]) -> int:
    from anabranch.cli.flags import settings_from_args
    from anabranch.cli.run import load
    from anabranch.explore.engine import prepare
    from anabranch.reduce.setup import reductions

    source, seconds, *arguments = argv
    settings = settings_from_args(arguments)
    program = load(settings)
    watch = Watch(source, float(seconds))
    exploration = prepare(program, settings, watch, None, reductions(settings), time.monotonic())
    watch.exploration = exploration
    result = exploration.run()
    watch.note()
    table, counters = exploration.table, exploration.machine.counters.N
    found = table.by_file(counters)[source]
    row = watch.stats[-1]
    print(
        json.dumps(
            {
                "points": watch.points,
                "lines": sorted(line for line, hits in found.lines.items() if hits),
                "wanted": len(found.lines),
                "instructions": table.instruction_coverage(counters)[1],
                "executed": result.instructions,
                "states": result.states_explored,
                "paths": result.paths_total,
                "queries": row.queries,
                "solver": row.solver_time,
                "complete": result.complete,
                "reductions": result.reductions,
            },
            default=str,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

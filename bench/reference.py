"""Reference subjects: numbers of paths, errors and tests, and speed in units.

A unit is the CPU time of 10 million iterations of a fixed Python loop, taken in the same run. Times are CPU
time of exploration without test files (`timers.explore` of run.json). Exit code 1 if a count differs or a
bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.calibrate import unit_seconds
from bench.lib.engine import EngineFailure, EngineRun, run_engine
from bench.lib.native import NativeError, build, run_native
from bench.lib.subjects import CONCRETE, SUBJECTS, Concrete, Subject, find
from bench.lib.table import print_table

# Units allowed: depth first without tests; the default order may take half as long again.
BARS = {
    "regexp": 1.2,
    "echo_bare -DN=4 -DL=8": 1.0,
    "memspn -DM=15": 2.5,
    "bubble": 4.0,
}
BARS_WITH_TESTS = {"regexp": 4.0}
DEFAULT_ORDER_FACTOR = 1.5
MEMORY_MB = {"regexp": 500}


@dataclass
class Row:
    """One subject in one setting."""

    name: str
    setting: str
    paths: int = 0
    errors: int = 0
    places: int = 0
    tests: int = 0
    units: float = 0.0
    bar: float | None = None
    megabytes: int = 0
    problems: list[str] = field(default_factory=list)


class Measure:
    """Runs subjects and keeps the unit of this machine at this time."""

    def __init__(self, programs: Path | None, check_bars: bool) -> None:
        self.programs = programs
        self.check_bars = check_bars
        self.unit = unit_seconds()

    def _run(
        self, file: str, defines: tuple[str, ...], search: str | None, tests: str, scratch: str
    ) -> EngineRun:
        # The speed of a machine changes within minutes: the unit is taken on both sides of every run.
        self.unit = unit_seconds(rounds=2)
        return run_engine(
            [find(file, self.programs)], Path(scratch), defines=defines, search=search, tests=tests,
            extra=("--all-errors",) if tests == "all" else (), time_limit=1800, fresh=True, read_tests=False,
        )  # fmt: skip

    def _speed(self, row: Row, run: EngineRun) -> None:
        after = unit_seconds(rounds=2)
        row.units = float(run.run["timers"]["explore"]) * 2 / (self.unit + after)
        row.megabytes = run.peak_kb // 1024
        if self.check_bars and row.bar is not None and row.units > row.bar:
            row.problems.append(f"{row.units:.2f} units, bar {row.bar}")

    def subject(self, subject: Subject, search: str | None, tests: str) -> Row:
        row = Row(subject.name, f"{search or 'default'}, tests {tests}")
        if tests == "none":
            row.bar = BARS.get(subject.name)
            if row.bar is not None and search is None:
                row.bar *= DEFAULT_ORDER_FACTOR
        else:
            row.bar = BARS_WITH_TESTS.get(subject.name)
        with tempfile.TemporaryDirectory(prefix="anabranch-reference-") as scratch:
            try:
                run = self._run(subject.file, subject.defines, search, tests, scratch)
            except EngineFailure as failure:
                row.problems.append(str(failure))
                return row
            row.paths = run.paths
            row.errors = int(run.run["paths"]["error"])
            row.places = len(run.errors())
            row.tests = len(list(run.directory.glob("*.ktest")))
        self._counts(subject, row, run, tests)
        self._speed(row, run)
        limit = MEMORY_MB.get(subject.name)
        if self.check_bars and limit is not None and row.megabytes > limit and search == "dfs":
            row.problems.append(f"{row.megabytes} MB, bar {limit}")
        return row

    def _counts(self, subject: Subject, row: Row, run: EngineRun, tests: str) -> None:
        if not run.complete:
            row.problems.append(f"not complete: {run.run['losses']}")
        counted = (int(run.run["paths"]["exit"]), row.errors, row.places)
        expected = (subject.exits, subject.errors, subject.error_places)
        if counted != expected:
            row.problems.append(f"exits, errors, places {counted}, expected {expected}")
        if tests == "all" and row.tests != subject.paths:
            row.problems.append(f"{row.tests} test files for {subject.paths} paths")

    def concrete(self, subject: Concrete) -> Row:
        row = Row(" ".join([subject.file.removesuffix(".c"), *subject.defines]), "concrete", bar=subject.bar)
        with tempfile.TemporaryDirectory(prefix="anabranch-reference-") as scratch:
            try:
                run = self._run(subject.file, subject.defines, None, "none", scratch)
                source = find(subject.file, self.programs)
                flags = ("-O1", *subject.defines)
                native = run_native(build([source], Path(scratch) / "native", flags=flags), time_limit=60)
                again = run_engine([source], Path(scratch) / "code", defines=subject.defines, time_limit=1800)
            except (EngineFailure, NativeError) as failure:
                row.problems.append(str(failure))
                return row
        row.paths = run.paths
        if run.paths != 1 or not run.complete:
            row.problems.append(f"{run.paths} paths, complete: {run.complete}")
        if [t.exit_code for t in again.tests] != [native.code]:
            row.problems.append(f"exit code {[t.exit_code for t in again.tests]}, native {native.code}")
        self._speed(row, run)
        return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reference", description=__doc__)
    parser.add_argument(
        "--programs", type=Path, metavar="DIR", help="reference subjects from here, not our own"
    )
    parser.add_argument(
        "--max-paths", type=int, default=100_000, metavar="N", help="leave out larger subjects"
    )
    parser.add_argument("--counts-only", action="store_true", help="do not check speed and memory")
    parser.add_argument("--only", metavar="NAME", help="only subjects whose name starts so")
    arguments = parser.parse_args(argv)
    measure = Measure(arguments.programs, not arguments.counts_only)
    print(f"one unit is {measure.unit:.3f} s of CPU here at the start")
    rows: list[Row] = []
    for subject in SUBJECTS:
        if subject.paths > arguments.max_paths or not subject.name.startswith(arguments.only or ""):
            continue
        rows.append(measure.subject(subject, "dfs", "none"))
        rows.append(measure.subject(subject, None, "none"))
        rows.append(measure.subject(subject, "dfs", "all"))
    rows += [measure.concrete(c) for c in CONCRETE if c.file.startswith(arguments.only or "")]
    print_table(
        ("subject", "setting", "paths", "error paths", "places", "tests", "units", "bar", "MB", "right"),
        [
            (r.name, r.setting, r.paths, r.errors, r.places, r.tests, r.units, r.bar or "-", r.megabytes,
             not r.problems)
            for r in rows
        ],
    )  # fmt: skip
    for row in rows:
        for problem in row.problems:
            print(f"{row.name} ({row.setting}): {problem[:400]}")
    return 1 if any(r.problems for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

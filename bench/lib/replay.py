"""Native replay of the engine's tests: each has to end as the engine predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.replay.outcome import difference
from bench.lib.engine import EngineRun
from bench.lib.native import build_checked, run_native

__all__ = ["Tally", "build_for_replay", "difference", "replay"]


@dataclass
class Tally:
    """How many tests ended as predicted, and what the others did."""

    tests: int = 0
    errors: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.tests += other.tests
        self.errors += other.errors
        self.problems += other.problems


def replay(run: EngineRun, program: Path) -> Tally:
    """Run a checked native build on every test of a run."""
    tally = Tally()
    for test in run.tests:
        path = run.directory / f"test{test.number:06d}.ktest"
        native = run_native(program, environment={"KTEST_FILE": str(path)})
        tally.tests += 1
        tally.errors += test.end != "exit"
        problem = difference(test, native)
        if problem is not None:
            tally.problems.append(f"test {test.number}: {problem}")
    return tally


def build_for_replay(
    source: Path, directory: Path, defines: Sequence[str] = (), *, bounds: bool = False
) -> Path:
    """A checked build. ``bounds`` adds the check of array types, which sees accesses far behind a red zone.

    It also objects to an index that leaves an inner array but not the object, which the engine allows: only
    for programs that have none of these.
    """
    flags = [*defines, "-Wno-everything", *(("-fsanitize=bounds",) if bounds else ())]
    return build_checked([source], directory / "replay", flags=flags)

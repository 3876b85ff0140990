"""Native replay of the engine's tests: each has to end as the engine predicts."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.engine import EngineRun, TestRecord
from bench.lib.native import (
    EXIT_ASSUME,
    EXIT_CHECK,
    EXIT_MISMATCH,
    EXIT_REPORT,
    NativeRun,
    build_checked,
    run_native,
)

# Kinds that a signal shows when no check named them first.
SIGNALS = {
    signal.SIGABRT: {"assert", "abort"},
    signal.SIGSEGV: {"ptr", "read_only", "stack", "exec"},
    signal.SIGBUS: {"ptr", "read_only"},
    signal.SIGFPE: {"div"},
    signal.SIGILL: {"unreachable_call", "abort"},
}


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


def difference(test: TestRecord, native: NativeRun) -> str | None:
    """Why a native run is not the end that the test predicts; None if it is."""
    if native.timed_out:
        return "did not end in time"
    # a program may end with these codes itself; the runtime says why it does
    spoke = b"replay:" in native.stderr
    if native.code == EXIT_MISMATCH and spoke:
        return f"asked for other objects: {native.stderr.decode(errors='replace').strip()[-200:]}"
    if native.code == EXIT_ASSUME and spoke:
        return "an assumption is false"
    if test.end == "exit":
        if native.signal or (native.code == EXIT_CHECK and native.check_kind()):
            return f"predicted exit {test.exit_code}, {_ended(native)}"
        if native.code != (test.exit_code or 0) & 0xFF:
            return f"predicted exit {test.exit_code}, native exit {native.code}"
        if native.stdout != test.output:
            return f"predicted output {test.output[:60]!r}, native {native.stdout[:60]!r}"
        return None
    if test.kind == native.check_kind():
        return None
    if test.kind in ("report_error", "user") and native.code == EXIT_REPORT:
        return None
    if native.signal and test.kind in SIGNALS.get(signal.Signals(native.signal), set()):
        return None
    return f"predicted {test.kind}, {_ended(native)}"


def _ended(native: NativeRun) -> str:
    if native.signal:
        return f"native signal {signal.Signals(native.signal).name}"
    kind = native.check_kind()
    return f"native error {kind}" if kind else f"native exit {native.code}"


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

"""Runs of the engine through its command line, and what they left on disk.

A run is a forked child that has the engine's modules loaded already (a start costs milliseconds, state of
one run never reaches another), or a process of its own with ``fresh=True``.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bench.lib.ktest import read_ktest

ROOT = Path(__file__).resolve().parent.parent.parent


INTERNAL = 3  # the engine's own exit code for a failure of itself
CRASHED = 70  # an exception left the engine's main function
INTERRUPTED_SECONDS = 240  # an interrupted run writes its results within, beside other work


class EngineFailure(Exception):
    """The engine ended without a run to look at."""


@dataclass(frozen=True)
class TestRecord:
    """One test as the engine describes it, with the input bytes read back from its `.ktest` file."""

    __test__ = False

    number: int
    end: str
    kind: str | None
    line: int | None
    exit_code: int | None
    output: bytes
    objects: tuple[tuple[str, bytes], ...]
    lines: frozenset[int] | None
    condition: Path | None


@dataclass
class EngineRun:
    """A run directory read back; ``code`` is the exit code of the command."""

    directory: Path
    code: int
    stdout: str
    stderr: str
    seconds: float
    peak_kb: int
    run: dict[str, Any] = field(default_factory=dict)
    tests: list[TestRecord] = field(default_factory=list)

    @property
    def paths(self) -> int:
        exact = self.run.get("exact_paths")
        return int(self.run["paths"]["total"] if exact is None else exact)

    @property
    def complete(self) -> bool:
        return bool(self.run["complete"])

    def errors(self) -> set[tuple[str, int]]:
        """(kind, line) of every error reported."""
        return {(str(e["kind"]), int(e["line"])) for e in self.run["errors"]}

    def covered_lines(self, source: Path) -> tuple[set[int], set[int]]:
        """(covered, all that have code) of one source file."""
        covered: set[int] = set()
        total: set[int] = set()
        for name, entry in self.run["coverage"]["files"].items():
            if Path(name).name == source.name:
                covered.update(entry["lines_covered"])
                total.update(entry["lines_total"])
        return covered, total


@cache
def _entry() -> Any:
    """The engine's main function, with everything a run needs imported before the first fork."""
    main = importlib.import_module("anabranch.cli.main").main
    for name in ("anabranch.cli.run", "anabranch.frontend", "anabranch.explore.engine", "llvmlite.binding"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return main


def _child(arguments: Sequence[str], out: Path, err: Path) -> int:
    for stream, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(handle, stream)
        os.close(handle)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    try:
        result = _entry()(list(arguments))
        code = int(result or 0)
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else (0 if done.code is None else 1)
    except BaseException:
        traceback.print_exc()
        code = CRASHED
    sys.stdout.flush()
    sys.stderr.flush()
    return code


@dataclass(frozen=True)
class Called:
    """One command of the engine: exit code, what it printed, peak memory in KB."""

    code: int
    stdout: str
    stderr: str
    peak_kb: int


def call_engine(
    arguments: Sequence[str],
    scratch: Path,
    time_limit: float,
    fresh: bool = False,
    cpu_limit: float | None = None,
) -> Called:
    """Run a command in a forked child, or (fresh) in a process of its own as a user would start it.

    At the limit of time it is killed; at that of CPU time it is interrupted, and may write its results.
    """
    out, err = scratch / "stdout.txt", scratch / "stderr.txt"
    child = start_fresh(arguments, out, err) if fresh else _start_forked(arguments, out, err)
    deadline = time.monotonic() + time_limit
    pause = 0.001
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.wait4(child, 0)
            raise EngineFailure(f"no end after {time_limit:.0f} s: {' '.join(arguments)}")
        if cpu_limit is not None and cpu_seconds(child) > cpu_limit:
            os.kill(child, signal.SIGINT)
            cpu_limit = None
            deadline = min(deadline, time.monotonic() + INTERRUPTED_SECONDS)
        time.sleep(pause)
        pause = min(pause * 1.3, 0.05)
    code = os.waitstatus_to_exitcode(status)
    printed, messages = out.read_text(errors="replace"), err.read_text(errors="replace")
    return Called(code, printed, messages, usage.ru_maxrss)


def cpu_seconds(child: int) -> float:
    """CPU time that a running process has used so far."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _start_forked(arguments: Sequence[str], out: Path, err: Path) -> int:
    _entry()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os._exit(_child(arguments, out, err) & 0xFF)
    return child


def start_fresh(arguments: Sequence[str], out: Path, err: Path) -> int:
    """Start a command in a process of its own; returns its number."""
    command = [sys.executable, "-m", "anabranch.cli.main", *arguments]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, n, str(p), flags, 0o644) for n, p in ((1, out), (2, err))]
    return os.posix_spawn(command[0], command, {**os.environ, "PYTHONPATH": path}, file_actions=actions)


def run_engine(
    sources: Sequence[Path],
    directory: Path,
    *,
    defines: Sequence[str] = (),
    search: str | None = "dfs",
    tests: str = "all",
    extra: Sequence[str] = (),
    time_limit: float = 300.0,
    fresh: bool = False,
    read_tests: bool = True,
    cpu_limit: float | None = None,
) -> EngineRun:
    """`anabranch run` on some files into ``directory/run``; raises EngineFailure if no run came of it."""
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / "run"
    arguments = [
        "run",
        *map(str, sources),
        *defines,
        "--tests",
        tests,
        "--output-dir",
        str(target),
        "--quiet",
    ]
    if search is not None:
        arguments += ["--search", search]
    arguments += extra
    start = time.monotonic()
    called = call_engine(arguments, directory, time_limit, fresh, cpu_limit)
    code, out, err = called.code, called.stdout, called.stderr
    result = EngineRun(target, code, out, err, time.monotonic() - start, called.peak_kb)
    summary = target / "run.json"
    if not summary.exists():
        raise EngineFailure(f"no run.json (exit {code}): {(err or out).strip()[-2000:]}")
    result.run = json.loads(summary.read_text())
    if code in (INTERNAL, CRASHED) or code < 0:
        raise EngineFailure(f"exit {code}: {err.strip()[-2000:]}{crash_log(target)}")
    if read_tests and tests != "none":
        result.tests = read_tests_of(target)
    return result


def crash_log(directory: Path) -> str:
    """The end of the traceback that the engine keeps beside its results."""
    log = directory / "anabranch-crash.log"
    return "\n" + log.read_text()[-1500:] if log.exists() else ""


def read_tests_of(directory: Path) -> list[TestRecord]:
    """Every test of a run directory: its `.ktest` file with the line about it in `tests.jsonl`."""
    records = []
    listing = directory / "tests.jsonl"
    if not listing.exists():
        raise EngineFailure(f"no tests.jsonl in {directory}")
    for text in listing.read_text().splitlines():
        entry = json.loads(text)
        number = int(entry["test"])
        lines = entry.get("lines")
        condition = entry.get("condition")
        kind = entry.get("kind")
        records.append(
            TestRecord(
                number=number,
                end=entry["end"],
                kind=kind,
                line=entry.get("line"),
                exit_code=entry.get("exit_code"),
                output=bytes.fromhex(entry.get("output") or ""),
                objects=tuple(read_ktest(directory / f"test{number:06d}.ktest")),
                lines=None if lines is None else frozenset(int(n) for _, n in lines),
                condition=directory / condition if condition else None,
            )
        )
    return records

"""One bug tried: its package built natively and run on a known input, explored, its test replayed."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from anabranch.error_kinds import error_kind
from anabranch.native.flags import ADDRESS_FLAGS
from anabranch.replay.build import undefined_flags
from anabranch.replay.outcome import difference, ended
from bench.historic.table import SUBJECTS, Bug, Found, Trial
from bench.lib.engine import EngineFailure, call_engine, cpu_seconds, start_fresh
from bench.lib.ktest import write_ktest
from bench.lib.native import CHECKS_RUNTIMES, KLEE_RUNTIME, NativeError, build, run_native
from bench.lib.registries import SourceError, source

CPU_LIMIT = 60.0
WALL_LIMIT = 420.0
REPLAY_LIMIT = 300.0
# A run that is asked to stop writes its results before it ends.
STOP_SECONDS = 120.0


@dataclass(frozen=True)
class Expected:
    """The end that the known input is to have, as replay states predictions."""

    kind: str
    end: str = "error"
    exit_code: int | None = None
    output: bytes | None = None


def sources_of(bug: Bug, tree: Path) -> list[Path]:
    return [SUBJECTS / bug.harness, *(path for name in bug.files for path in sorted(tree.glob(name)))]


def flags_of(bug: Bug, tree: Path) -> list[str]:
    directories = [*([SUBJECTS / bug.stubs] if bug.stubs else []), *(tree / name for name in bug.include)]
    return [*(f"-I{path}" for path in directories), *(f"-D{name}" for name in bug.define)]


def confirm(bug: Bug, tree: Path, scratch: Path) -> str:
    """The kind of error of the known input in a native build with checks, or how else it ended."""
    checks = ("-g", "-O0", "-w", *ADDRESS_FLAGS, *undefined_flags(()))
    program = build(
        sources_of(bug, tree),
        scratch / "native",
        flags=(*checks, *flags_of(bug, tree)),
        runtimes=(*CHECKS_RUNTIMES, KLEE_RUNTIME),
    )
    test = scratch / "known.ktest"
    write_ktest(test, [("input", bug.known)])
    native = run_native(program, environment={"KTEST_FILE": str(test)})
    return bug.kind if difference(Expected(bug.kind), native) is None else ended(native)


def is_the_bug(bug: Bug, report: str) -> bool:
    """Whether an error report is of the bug: kind and access as expected, function and line on the stack."""
    kind = re.search(r"^\tkind: (\S+)", report, re.MULTILINE)
    stack = re.findall(r"^\t#\d+ in (\S+?)\(.* at .*?:(\d+)$", report, re.MULTILINE)
    if kind is None or error_kind(kind[1]).native != error_kind(bug.kind).native:
        return False
    if bug.access and f"access: {bug.access}" not in report:
        return False
    return any((bug.function, str(line)) in stack for line in bug.lines)


def _explore(bug: Bug, tree: Path, goal: str, target: Path, scratch: Path) -> tuple[float | None, int]:
    """CPU seconds until the report of the bug is on disk (None: not found), and the number of its test."""
    arguments = [
        "run", *map(str, sources_of(bug, tree)), *flags_of(bug, tree), "--tests", "errors",
        "--output-dir", str(target), "--quiet", *(("--goal", goal) if goal != "default" else ()),
    ]  # fmt: skip
    child = start_fresh(arguments, scratch / "stdout.txt", scratch / "stderr.txt")
    deadline = time.monotonic() + WALL_LIMIT
    seen: set[Path] = set()
    found: tuple[float | None, int] = None, 0
    stopping = False
    while True:
        spent = cpu_seconds(child)
        ended_now, status, usage = os.wait4(child, os.WNOHANG)
        for report in sorted(target.glob("*.err")) if found[0] is None else ():
            if report not in seen and is_the_bug(bug, report.read_text(errors="replace")):
                spent = usage.ru_utime + usage.ru_stime if ended_now else spent
                found = spent, int(re.sub(r"\D", "", report.name.split(".")[0]))
            seen.add(report)
        if ended_now:
            break
        over = found[0] is not None or spent > CPU_LIMIT or time.monotonic() > deadline
        if over and not stopping:
            stopping = True
            deadline = time.monotonic() + STOP_SECONDS
            os.kill(child, signal.SIGINT)
        elif over and time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.wait4(child, 0)
            if found[0] is None:
                raise EngineFailure("no end after it was asked to stop")
            return found
        time.sleep(0.05)
    # the signal may come when the run is over and its handler is gone
    if os.waitstatus_to_exitcode(status) not in (0, 130, -signal.SIGINT):
        text = (scratch / "stderr.txt").read_text(errors="replace").strip()
        raise EngineFailure(f"exit {os.waitstatus_to_exitcode(status)}: {text[-400:]}")
    return found


def look_for(bug: Bug, tree: Path, goal: str, scratch: Path) -> Found:
    """Explore for at most 60 CPU seconds, then replay the test of the error."""
    target = scratch / "run"
    try:
        seconds, test = _explore(bug, tree, goal, target, scratch)
        if seconds is None or seconds > CPU_LIMIT:
            run = json.loads((target / "run.json").read_text())
            others = sorted({f"{e['kind']} in {e['function']}" for e in run["errors"]})
            return Found(
                goal, None, False, f"complete: {run['complete']}, errors: {', '.join(others) or 'none'}"
            )
        for other in target.glob("*.ktest"):
            if other.name != f"test{test:06d}.ktest":
                other.unlink()
        replayed = call_engine(["replay", str(target), "--quiet"], scratch, REPLAY_LIMIT)
        return Found(goal, seconds, replayed.code == 0, (replayed.stdout + replayed.stderr).strip()[-200:])
    except EngineFailure as failure:
        return Found(goal, None, False, str(failure))


def try_bug(bug: Bug, goals: tuple[str, ...]) -> Trial:
    with tempfile.TemporaryDirectory(prefix="anabranch-historic-") as name:
        scratch = Path(name)
        try:
            tree = source(bug.package.registry, bug.package.name, bug.package.version)
            native = confirm(bug, tree, scratch)
        except (SourceError, NativeError) as error:
            return Trial(bug, "not built", note=str(error)[-400:])
        found = []
        for goal in goals:
            (scratch / goal).mkdir()
            found.append(look_for(bug, tree, goal, scratch / goal))
        return Trial(bug, native, tuple(found))

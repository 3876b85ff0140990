"""Everything an exploration tells ends in the run directory, and is read back, also after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch.report.errors import ErrorRecord
from anabranch.report.events import Collector, InputRecord, Progress, TestCase
from anabranch.report.recorder import RunRecorder
from anabranch.report.result import Coverage, FileCoverage, Ratio, RunResult
from anabranch.report.rundir import create_run_directory
from anabranch.report.stats import StatsRow
from bench.lib.run_directory import ReadError, read_run

KEYS = {
    "complete", "losses", "paths", "tests", "errors", "states", "instructions", "coverage", "queries",
    "timers", "cpu_seconds", "settings",
}  # fmt: skip


def make(tmp_path: Path, **more: Any) -> RunRecorder:
    command = ["anabranch", "run", "a b.c"]
    return RunRecorder(create_run_directory(tmp_path / "out"), command, {"inputs": ["a b.c"]}, "dfs", **more)


def test_a_whole_run(tmp_path: Path) -> None:
    display = Collector()
    recorder = make(tmp_path, display=display)
    early = read_run(tmp_path / "out")
    assert not early.finished
    assert early.run.keys() >= KEYS

    assert recorder.on_test(TestCase((InputRecord("x", b"abcd"),), output=b"hi\n", exit_code=0)) == 1
    number = recorder.on_test(
        TestCase((InputRecord("x", b"bug!"),), end="error", kind="assert", line=9, condition="(check-sat)")
    )
    error = ErrorRecord("assert", "ASSERTION FAIL: x", "/s/a.c", 9, function="main", test=number)
    recorder.on_error(error)
    recorder.on_error(ErrorRecord("abort", "abort failure", "/s/a.c", 11))
    recorder.on_warning("something odd")
    recorder.on_stats(StatsRow(instructions=5))
    recorder.on_tree([(1, 0, 0, 0, 0, 1)], [])
    recorder.on_progress(Progress(0.5, paths_total=2, states_waiting=4))

    result = RunResult(complete=True, paths_exit=1, paths_error=1, paths_total=2, tests=2, errors=[error])
    files = {"a.c": FileCoverage({1: 4, 2: 1, 3: 0}, Ratio(1, 2), {2: ((1, 0),)})}
    result.coverage = Coverage(Ratio(2, 3), Ratio(1, 2), files)
    document = recorder.finish(result)

    data = read_run(tmp_path / "out")
    assert data.run == json.loads(json.dumps(document))
    assert data.finished
    assert data.complete
    assert not data.problems
    assert data.run.keys() >= KEYS
    assert data.run["coverage"]["files"]["a.c"] == {
        "lines": {"covered": 2, "total": 3},
        "branches": {"covered": 1, "total": 2},
        "lines_covered": [1, 2],
        "lines_total": [1, 2, 3],
        "hits": {"1": 4, "2": 1, "3": 0},
        "branch_hits": {"2": [[1, 0]]},
    }
    assert data.run["settings"] == {"inputs": ["a b.c"]}
    assert {number: test.objects for number, test in data.tests.items()} == {
        1: (("x", b"abcd"),),
        2: (("x", b"bug!"),),
    }
    assert [(e.number, e.suffix, e.fields["Line"]) for e in data.errors] == [
        (2, "assert", "9"),
        (3, "abort", "11"),
    ]
    assert [row["Instructions"] for row in data.stats] == [5]
    assert data.messages[:2] == [
        "KLEE: ERROR: /s/a.c:9: ASSERTION FAIL: x",
        "KLEE: NOTE: now ignoring this error at this location",
    ]
    assert "KLEE: done: completed paths = 1" in data.messages
    assert data.warnings == ["KLEE: WARNING: something odd"]
    assert data.info.startswith("anabranch run 'a b.c'\nPID: ")
    for line in (
        "BEGIN searcher description\ndfs\nEND",
        "Finished: ",
        "Elapsed: 00:00:0",
        "generated tests = 2",
    ):
        assert line in data.info
    listing = [json.loads(line) for line in (tmp_path / "out" / "tests.jsonl").read_text().splitlines()]
    inputs = [{"name": "x", "bytes": 4}]
    assert listing == [
        {"test": 1, "end": "exit", "inputs": inputs, "exit_code": 0, "output": "68690a"},
        {
            "test": 2, "end": "error", "inputs": inputs, "kind": "assert", "line": 9,
            "condition": "test000002.smt2",
        },
    ]  # fmt: skip
    assert display.errors[0] is error
    assert display.warnings == ["something odd"]
    assert display.progress is not None


def test_losses_forbid_complete(tmp_path: Path) -> None:
    recorder = make(tmp_path)
    result = RunResult(complete=True)
    result.lose("unsupported: fence", "a.c:3")
    result.lose("unsupported: fence", "a.c:3")
    result.complete = True
    document = recorder.finish(result)
    assert document["complete"] is False
    assert document["losses"] == {"unsupported: fence": {"count": 2, "places": {"a.c:3": 2}}}


def test_progress_refreshes_the_outcome(tmp_path: Path) -> None:
    recorder = make(tmp_path, refresh=0.0)
    recorder.on_progress(
        Progress(3.0, paths_exit=4, paths_error=1, paths_total=5, states_waiting=9, instructions=77)
    )
    recorder.on_progress(
        Progress(3.5, paths_exit=5, paths_error=1, paths_total=6, states_waiting=2, instructions=99)
    )
    run = read_run(tmp_path / "out").run
    assert run["paths"] == {"exit": 5, "error": 1, "total": 6, "left": 2}
    assert run["states"]["waiting_max"] == 9
    assert run["instructions"] == 99
    assert run["finished"] is False
    recorder.close()


WRITER = """
import sys
from pathlib import Path
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import InputRecord, Progress, TestCase
from anabranch.report.recorder import RunRecorder
from anabranch.report.rundir import create_run_directory
from anabranch.report.stats import StatsRow
r = RunRecorder(create_run_directory(Path(sys.argv[1])), ["x"], {}, refresh=0.0)
n = 0
while True:
    n = r.on_test(TestCase((InputRecord("data", bytes([n % 251]) * 100_000),)))
    if n % 3 == 0:
        r.on_error(ErrorRecord("assert", "m", "a.c", n, test=n))
    r.on_stats(StatsRow(instructions=n))
    r.on_tree([(n, n, 0, 0, 0, 1)], [(n, "a.c:1", None, "exit")])
    r.on_progress(Progress(float(n), paths_total=n))
    if n == 20:
        print("going", flush=True)
"""


def test_a_killed_run_can_be_read(tmp_path: Path) -> None:
    target = tmp_path / "out"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "going\n"
        process.send_signal(signal.SIGKILL)
    data = read_run(target)
    assert data.problems == []
    assert not data.finished
    assert not data.complete
    assert len(data.tests) >= 20
    for number, test in data.tests.items():
        assert test.objects == (("data", bytes([(number - 1) % 251]) * 100_000),)
    assert len(data.tests) - len(data.stats) <= 1
    assert [row["Instructions"] for row in data.stats] == list(range(1, len(data.stats) + 1))
    assert len(data.tests) - data.run["paths"]["total"] <= 1
    assert all(error.fields["Error"] == "m" for error in data.errors)


def test_what_is_no_run_directory(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="not a run directory"):
        read_run(tmp_path / "absent")
    with pytest.raises(ReadError, match="no results"):
        read_run(tmp_path)


def test_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "info").write_text("x")
    (tmp_path / "run.json").write_text("{")
    (tmp_path / "run.stats").write_text("not a database, but long enough to be looked at" * 30)
    (tmp_path / "test000001.ktest").write_bytes(b"KTEST")
    problems = read_run(tmp_path).problems
    assert [problem.split(":")[0] for problem in problems] == ["run.json", "run.stats", "test000001.ktest"]

"""The loop on real programs: limits, preemption, determinism, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.explore import housekeeping
from anabranch.explore.search import ORDERS
from tests.machine.harness import Outcome, prepare, run_source

FOREVER = """
int main(void) { volatile unsigned n = 0; for (;;) n++; }
"""

MANY_PATHS = """
#include <klee/klee.h>
int main(void) {
  unsigned char b[6];
  klee_make_symbolic(b, sizeof b, "b");
  int n = 0;
  for (int i = 0; i < 6; i++) if (b[i] > 100) n++;
  return n;
}
"""

ONE_LOOPS = """
#include <klee/klee.h>
#include <stdio.h>
int main(void) {
  int x = klee_int("x");
  if (x == LOOPS) { volatile unsigned n = 0; for (;;) n++; }
  if (x == 2) puts("two");
  if (x > 10) puts("more");
  return 0;
}
"""

SEARCHES = ORDERS.names()


def losses(outcome: Outcome) -> dict[str, int]:
    return outcome.losses()


# ---- limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [(), ("--interpret",)], ids=["translated", "interpreted"])
def test_time_limit_stops_a_loop_that_never_forks(tmp_path: Path, how: tuple[str, ...]) -> None:
    outcome = run_source(tmp_path, FOREVER, "--max-time", "300ms", *how)
    assert outcome.result.stopped == "max-time"
    assert losses(outcome) == {"max-time": 1}
    assert not outcome.result.complete
    assert (outcome.result.paths_total, outcome.result.paths_left) == (0, 1)


@pytest.mark.parametrize("how", [(), ("--interpret",)], ids=["translated", "interpreted"])
def test_instruction_limit_is_exact_to_a_block(tmp_path: Path, how: tuple[str, ...]) -> None:
    outcome = run_source(tmp_path, FOREVER, "--max-instructions", "10000", *how)
    assert outcome.result.stopped == "max-instructions"
    assert 10_000 <= outcome.result.instructions < 10_100


def test_fork_limit_keeps_the_path_running(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, MANY_PATHS, "--max-forks", "5")
    assert outcome.exploration.machine.decider.forks == 5
    assert outcome.result.paths_exit == 6
    assert set(losses(outcome)) == {"max-forks"}
    assert not outcome.result.complete


def test_depth_limit_ends_deep_paths(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, MANY_PATHS, "--max-depth", "3")
    assert losses(outcome) == {"max-depth": 8}
    assert outcome.result.paths_exit == 0


def test_test_limit(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, MANY_PATHS, "--max-tests", "7")
    assert outcome.result.stopped == "max-tests"
    assert outcome.result.paths_exit == 7
    assert outcome.result.paths_total == 7
    assert losses(outcome)["max-tests"] == outcome.result.paths_left > 0


def test_stop_on_error(tmp_path: Path) -> None:
    source = "#include <assert.h>\n" + MANY_PATHS.replace(
        "return", "assert(b[0] != 7);\nassert(b[1] != 7);\nreturn"
    )
    assert len(run_source(tmp_path, source).result.errors) == 2
    outcome = run_source(tmp_path, source, "--stop-on-error")
    assert outcome.result.stopped == "stop-on-error"
    assert len(outcome.result.errors) == 1
    assert losses(outcome)["stop-on-error"] == outcome.result.paths_left > 0


def test_memory_limit_ends_waiting_states_and_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "PROGRESS_SECONDS", 0)
    exploration = prepare(
        tmp_path, MANY_PATHS, "--max-memory", "100", "--search", "bfs", "--max-tests", "100"
    )
    waiting = exploration.worklist
    exploration.parts.budget._memory = lambda: 99_000_000 + 1_000_000 * len(waiting)
    result = exploration.run()
    dropped = exploration.reporter.losses.as_dict()["out-of-memory"]
    assert 0 < sum(dropped.values()) < 60
    assert result.paths_total == result.paths_exit
    assert result.paths_left == sum(dropped.values())
    assert not result.complete


@pytest.mark.parametrize("search", ["bfs", "random-path", "nurs:covnew"])
def test_the_last_waiting_state_goes_on_though_memory_is_short(tmp_path: Path, search: str) -> None:
    exploration = prepare(
        tmp_path, MANY_PATHS, "--max-memory", "100", "--search", search, "--max-tests", "100"
    )
    used = iter(range(101_000_000, 149_000_000, 20_000))
    exploration.parts.budget._memory = lambda: next(used)
    result = exploration.run()
    assert result.paths_exit > 0 and not result.complete
    assert exploration.reporter.losses.as_dict()["out-of-memory"]


def test_nothing_ends_if_caches_are_what_takes_the_memory(tmp_path: Path) -> None:
    exploration = prepare(
        tmp_path, MANY_PATHS, "--max-memory", "100", "--search", "bfs", "--max-tests", "100"
    )
    used = [0]

    def memory() -> int:
        used[0] += 1_000_000
        return used[0]

    def release() -> None:
        used[0] = 50_000_000

    exploration.parts.budget._memory, exploration.parts.budget._release = memory, release
    result = exploration.run()
    assert result.complete and result.paths_exit == 64
    assert used[0] < 100_000_000 + 2_000_000


def test_a_defect_in_what_is_made_of_an_end_costs_that_path_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exploration = prepare(tmp_path, MANY_PATHS, "--tests", "all")

    def broken(*arguments: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(exploration.reporter.test_writer, "write", broken)
    result = exploration.run()
    assert not result.complete
    assert sum(exploration.reporter.losses.as_dict()["internal error"].values()) == 64


# ---- preemption --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [(), ("--interpret",)], ids=["translated", "interpreted"])
@pytest.mark.parametrize("value", ["0", "1"])
def test_an_infinite_path_does_not_starve_the_others(
    tmp_path: Path, how: tuple[str, ...], value: str
) -> None:
    outcome = run_source(
        tmp_path, ONE_LOOPS, f"-DLOOPS={value}", "--batch-instructions", "1000",
        "--max-instructions", "200000", *how,
    )  # fmt: skip
    assert sorted(t.output or b"" for t in outcome.collector.tests if t.end == "exit") == [
        b"",
        b"more\n",
        b"two\n",
    ]
    assert losses(outcome) == {"max-instructions": 1}


# ---- determinism -------------------------------------------------------------------------------------


def run_directory(tmp_path: Path, source: Path, name: str, *options: str) -> dict[str, bytes]:
    """The files of a run, times and process numbers left out."""
    out = tmp_path / name
    assert main(["run", str(source), "--output-dir", str(out), "--quiet", *options]) == 0
    files = {
        p.name: p.read_bytes() for p in sorted(out.iterdir()) if p.suffix in (".ktest", ".err", ".jsonl")
    }
    document = json.loads((out / "run.json").read_text())
    del document["timers"], document["cpu_seconds"], document["settings"]["output_dir"]
    for link in document["queries"]["by"].values():
        del link["seconds"]
    files["run.json"] = json.dumps(document, sort_keys=True).encode()
    return files


@pytest.mark.parametrize("options", [(), ("--batch-forks", "2", "--batch-instructions", "50")])
def test_same_seed_same_files(tmp_path: Path, options: tuple[str, ...]) -> None:
    source = Path(__file__).parents[1] / "machine" / "subjects" / "strings.c"
    one = run_directory(tmp_path, source, "one", "--seed", "7", "--tests", "all", *options)
    two = run_directory(tmp_path, source, "two", "--seed", "7", "--tests", "all", *options)
    assert one.keys() == two.keys()
    assert len(one) > 34
    for name, content in one.items():
        assert content == two[name], name


@pytest.mark.parametrize("search", SEARCHES)
def test_every_order_finds_the_same_paths(tmp_path: Path, search: str) -> None:
    def paths(*options: str) -> list[tuple[int | None, tuple[tuple[str, bytes], ...]]]:
        outcome = run_source(tmp_path, MANY_PATHS, *options)
        assert outcome.result.complete
        return sorted((test.exit_code, test.objects) for test in outcome.collector.tests)

    expected = paths("--search", "dfs")
    assert len(expected) == 64
    assert paths("--search", search, "--seed", "3", "--batch-forks", "1") == expected


@pytest.mark.parametrize("search", ["dfs", "random-path"])
def test_the_tree_is_written_for_those_who_ask(tmp_path: Path, search: str) -> None:
    outcome = run_source(tmp_path, MANY_PATHS, "--search", search, "--write-exec-tree")
    nodes, details = outcome.collector.nodes, outcome.collector.details
    assert len(nodes) == len(details) == 64 + 63
    assert sum(detail[3] == "exit" for detail in details) == 64
    assert all(detail[2] for detail in details if detail[3] is None)
    assert run_source(tmp_path, MANY_PATHS, "--search", search).collector.nodes == []


# ---- signals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_cleanly_with_everything_written(tmp_path: Path, number: int, code: int) -> None:
    source = tmp_path / "loops.c"
    source.write_text(ONE_LOOPS)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "anabranch.cli.main", "run", str(source), "--output-dir", str(out), "-q",
               "-DLOOPS=0",
               "--tests", "all", "--batch-instructions", "100000"]  # fmt: skip
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    try:
        deadline = time.monotonic() + 300
        while len(list(out.glob("*.ktest"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(300) == code
    finally:
        process.kill()
    document = json.loads((out / "run.json").read_text())
    assert document["complete"] is False
    assert document["paths"] == {"exit": 3, "error": 0, "total": 3, "left": 1}
    assert len(list(out.glob("*.ktest"))) == document["tests"]

"""The drivers of libraries, the figures of `bench.loop_drivers`, and its mode that merges at loop exits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench import loop_drivers
from bench.lib.driver_results import Error, Result, add_result, compare, disagreements, read_results
from bench.lib.engine import run_engine
from bench.lib.loop_drivers import DRIVERS, ORIGINS, SUBJECTS, Driver
from bench.loop_drivers import MODES

WHOLE = Result("d", "loops", 4, 10, False, True, 2.0, 10, 1, 5, 1)
CUT = replace(WHOLE, mode="old", complete=False, explore=8.0, lines=8)
OVERFLOW = Error("out-of-bounds", "a.c", 7, "as predicted")

TWO_LOOPS = """
#include <klee/klee.h>
int main(void) {
  char s[4];
  int n = 0, sum = 0;
  klee_make_symbolic(s, 4, "s");
  while (n < 4 && s[n] == 'a') n++;
  if (s[0] == 'b') sum = 1; else sum = 2;
  return sum + n;
}
"""


def test_every_driver_has_a_program_and_every_program_a_driver() -> None:
    assert len(DRIVERS) == 40
    assert {d.full_name for d in DRIVERS} == {path.stem for path in SUBJECTS.glob("*.c")}
    assert {d.library for d in DRIVERS} == set(ORIGINS)
    assert all(10 <= d.capacity <= 100 for d in DRIVERS)


def test_time_is_compared_where_either_ends_and_coverage_where_one_does_not() -> None:
    found = compare([(WHOLE, CUT)])
    assert found.speedups == (4.0,) and found.saved == 6.0
    assert found.coverage == (25.0,) and found.more_lines == 2
    both_cut = compare([(replace(CUT, lines=4), CUT)])
    assert both_cut.speedups == () and both_cut.coverage == (-50.0,)
    assert compare([(WHOLE, replace(WHOLE, explore=4.0))]).coverage == ()


@pytest.mark.parametrize(
    ("one", "other", "problems"),
    [
        (WHOLE, CUT, 0),
        (WHOLE, replace(CUT, errors=(OVERFLOW,)), 1),  # not there in a complete run
        (replace(WHOLE, errors=(OVERFLOW,)), CUT, 0),  # not found yet
        (replace(WHOLE, errors=(OVERFLOW,)), replace(CUT, complete=True), 1),
    ],
)
def test_modes_contradict_each_other(one: Result, other: Result, problems: int) -> None:
    assert len(disagreements([one, other])) == problems


def test_results_are_read_back_and_a_cut_line_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    assert read_results(file) == {}
    result = replace(WHOLE, errors=(OVERFLOW,))
    add_result(file, result)
    file.write_text(file.read_text() + '{"driver": "d", "mo')
    assert list(read_results(file).values()) == [result]


def test_what_failed_runs_again_and_what_is_there_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, driver, asked = tmp_path / "results.jsonl", DRIVERS[0], []

    def explore(task: tuple[Driver, str, int], seconds: int, verify: bool) -> Result:
        asked.append(task[1])
        return replace(WHOLE, driver=task[0].full_name, mode=task[1])

    monkeypatch.setattr(loop_drivers, "explore", explore)
    failed = replace(WHOLE, driver=driver.full_name, mode="old", failure="not done in 100 s")
    add_result(file, replace(failed, mode="loops", failure=""))
    add_result(file, failed)
    for _ in range(2):
        loop_drivers.measure(file, [(driver, "loops", 4), (driver, "old", 4)], 10, False, 1)
    assert asked == ["old"]
    assert not any(result.failure for result in read_results(file).values())


def test_exits_merges_behind_loops_only(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(TWO_LOOPS)
    paths = {}
    for mode in ("plain", "exits"):
        extra = [*MODES[mode], "--goal", "paths"]
        run = run_engine([source], tmp_path / mode, search=None, tests="none", extra=extra)
        assert run.complete
        paths[mode] = run.run["paths"]["total"]
    # Five ways to leave the loop, the first of them with 'b' or not; both sides of the if stay apart.
    assert paths == {"plain": 6, "exits": 2}

"""`auto` explores in turns, plainly and with merging: whoever finishes first, what is told is right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.explore.engine import Exploration
from anabranch.reduce.merging import race
from tests.reduce.merging.harness import Found, explore, prepare
from tests.reduce.merging.test_merging import CALLS, COUNTING

LARGE = COUNTING.replace("b[5]", "b[16]").replace("i < 5", "i < 16")


def race_of(tmp_path: Path, source: str, *options: str) -> Found:
    return explore(tmp_path, source, "--merge", "auto", "--tests", "covering", *options)


def test_a_small_program_is_explored_without_merging(tmp_path: Path) -> None:
    small = race_of(tmp_path, COUNTING)
    plain = explore(tmp_path, COUNTING)
    assert small.merges == 0
    assert small.result.complete
    assert small.result.paths_total == plain.result.paths_total


def test_a_large_one_is_finished_by_merging(tmp_path: Path) -> None:
    large = race_of(tmp_path, LARGE)
    assert large.merges > 0
    assert large.result.complete
    assert large.result.paths_total < 100
    assert large.result.paths_multiplicity >= 131_071  # the paths that there are
    assert large.run.tree.states < 110_000
    assert large.run.tree.live == 0


@pytest.mark.parametrize("source", [COUNTING, CALLS])
@pytest.mark.parametrize(("first", "share"), [(0, 0.15), (0, 1000.0), (300, 1.0)])
def test_whoever_wins_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, first: int, share: float
) -> None:
    monkeypatch.setattr(race, "TURNS", 1)
    monkeypatch.setattr(race, "FIRST", first)
    monkeypatch.setattr(race, "SHARE", share)
    plain = explore(tmp_path, source)
    raced = race_of(tmp_path, source)
    assert raced.result.complete
    assert raced.errors() == plain.errors()
    assert raced.lines() == plain.lines()
    if raced.result.paths_total == raced.result.paths_multiplicity:
        assert raced.result.paths_total == plain.result.paths_total
    else:
        assert raced.result.paths_total < plain.result.paths_total
    assert raced.run.tree.live == 0


def test_stopped_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "TURNS", 1)
    monkeypatch.setattr(race, "FIRST", 0)
    found = race_of(tmp_path, LARGE, "--max-instructions", "20000")
    assert not found.result.complete
    assert found.result.losses
    assert found.run.tree.live == 0


def test_a_loss_of_the_one_that_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain exploration ends with a path lost, while merging stands for more paths but is not through."""
    monkeypatch.setattr(race, "TURNS", 1)
    monkeypatch.setattr(race, "FIRST", 1e12)
    run = prepare(tmp_path, COUNTING, "--merge", "auto", "--tests", "none")[0]
    racing = run.operators.search
    assert isinstance(racing, race.Race)
    racing.plain.tally.losses.add("a path")
    racing.merging.tally.multiplicity = 1_000_000
    result = run.run()
    assert not result.complete
    assert list(result.losses) == ["a path"]
    assert result.paths_multiplicity < 1_000_000


def give_up(run: Exploration, racing: race.Race, gone: race.Contestant) -> None:
    """As when memory runs short, and all the least promising states are those of one side."""
    for state in list(gone.order.states()):
        racing.remove(state)
        run.reporter.given_up(state, "out-of-memory")


@pytest.mark.parametrize("gone", ["plain", "merging"])
@pytest.mark.parametrize("running", ["plain", "merging"])
def test_a_side_without_states_has_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, running: str
) -> None:
    """What one side had to give up is no loss if the other one comes to its end."""
    monkeypatch.setattr(race, "TURNS", 1)
    monkeypatch.setattr(race, "MERGED_TURNS", 1)
    monkeypatch.setattr(race, "FIRST", 0)
    monkeypatch.setattr(race, "SHARE", 1.0)
    run = prepare(tmp_path, COUNTING, "--merge", "auto", "--tests", "none")[0]
    racing = run.operators.search
    assert isinstance(racing, race.Race)
    go_on, turns = run.go_on, 0

    def looks() -> bool:
        nonlocal turns
        turns += 1
        side = getattr(racing, gone)
        if turns > 6 and len(side.order) and racing.running is getattr(racing, running):
            give_up(run, racing, side)
        return go_on()

    run.go_on = looks  # type: ignore[method-assign]
    result = run.run()
    assert result.complete
    assert result.paths_multiplicity >= explore(tmp_path, COUNTING).result.paths_total
    assert getattr(racing, gone).tally.losses
    assert run.tree.live == 0


def test_both_sides_gave_up(tmp_path: Path) -> None:
    run = prepare(tmp_path, COUNTING, "--merge", "auto", "--tests", "none")[0]
    racing = run.operators.search
    assert isinstance(racing, race.Race)
    go_on, turns = run.go_on, 0

    def looks() -> bool:
        nonlocal turns
        turns += 1
        if turns == 4:
            for side in (racing.plain, racing.merging):
                give_up(run, racing, side)
            run.stopped = "max-memory"
        return go_on()

    run.go_on = looks  # type: ignore[method-assign]
    result = run.run()
    assert not result.complete
    assert list(result.losses) == ["out-of-memory"]
    assert run.tree.live == 0


def test_the_same_run_twice(tmp_path: Path) -> None:
    (tmp_path / "large.c").write_text(LARGE)
    states = []
    for name in ("first", "second"):
        source, out = str(tmp_path / "large.c"), str(tmp_path / name)
        command = ["run", source, "--merge", "auto", "--output-dir", out, "--no-progress"]
        code = f"import sys; from anabranch.cli.main import main; sys.exit(main({command!r}))"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        run = json.loads((tmp_path / name / "run.json").read_text())
        states.append((run["states"]["explored"], run["paths"], run["tests"]))
    assert states[0] == states[1]


def test_regions_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "TURNS", 1)
    monkeypatch.setattr(race, "FIRST", 0)
    source = """
    #include "klee/klee.h"
    int main(void) {
      unsigned char b[6];
      klee_make_symbolic(b, sizeof b, "b");
      int n = 0;
      for (int i = 0; i < 6; i++) {
        klee_open_merge();
        if (b[i] == 'x') n++;
        else if (b[i] == 'y') n += 2;
        klee_close_merge();
      }
      return n > 6;
    }
    """
    found = race_of(tmp_path, source)
    assert found.result.complete
    assert found.result.paths_total == 1
    assert found.result.paths_multiplicity == 729


def test_in_limited_time_the_search_order_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "TURNS", 1)
    monkeypatch.setattr(race, "LONG", 0)
    options = ("--goal", "bugs", "--merge", "auto", "--tests", "covering", "--search", "random-path")
    orders = []
    for limit in ((), ("--max-time", "1000")):
        run, collector = prepare(tmp_path, CALLS, *options, *limit)
        racing = run.operators.search
        assert isinstance(racing, race.Race)
        orders.append((racing.plain.order.description, racing.patience))
        found = Found(run, run.run(), collector)
        assert found.result.complete
        assert found.errors() == explore(tmp_path, CALLS).errors()
    assert orders == [("dfs", race.PATIENCE), ("random-path", 1)]

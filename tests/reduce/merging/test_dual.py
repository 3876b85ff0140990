"""Dual exploration: whichever lane finishes first, what is told is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from anabranch.explore.engine import Exploration
from anabranch.explore.worklist import Worklist
from anabranch.machine import State
from anabranch.reduce.merging.dual import DualExploration
from anabranch.reduce.merging.tuning import LaneShares, MergeTuning
from tests.reduce.merging.harness import Found, explore, prepare
from tests.reduce.merging.test_merging import CALLS, COUNTING

LARGE = COUNTING.replace("b[5]", "b[16]").replace("i < 5", "i < 16")


def lanes(**shares: Any) -> MergeTuning:
    return MergeTuning(lanes=LaneShares(**shares))


def ticks() -> Callable[[], float]:
    """A clock by which every turn takes a second."""
    return count().__next__


def dual(tmp_path: Path, source: str, *options: str, tuning: MergeTuning | None = None) -> Found:
    return explore(tmp_path, source, "--merge", "auto", "--tests", "covering", *options, tuning=tuning)


def dual_of(run: Exploration) -> DualExploration:
    return next(one for one in run.techniques.all if isinstance(one, DualExploration))


def test_a_small_program_is_explored_without_merging(tmp_path: Path) -> None:
    small = dual(tmp_path, COUNTING)
    plain = explore(tmp_path, COUNTING)
    assert small.merges == 0
    assert small.result.complete
    assert small.result.paths_total == plain.result.paths_total


def test_a_large_one_is_finished_by_merging(tmp_path: Path) -> None:
    large = dual(tmp_path, LARGE)
    assert large.merges > 0
    assert large.result.complete
    assert large.result.paths_total < 100
    assert large.result.paths_multiplicity >= 131_071  # the paths that there are
    assert large.run.tree.states < 110_000
    assert large.run.tree.live == 0


@pytest.mark.parametrize("source", [COUNTING, CALLS])
@pytest.mark.parametrize("first", [-1e9, -30, 0, 30])
def test_whichever_finishes_finds_the_same(tmp_path: Path, source: str, first: float) -> None:
    plain = explore(tmp_path, source)
    found = dual(tmp_path, source, tuning=lanes(turns=1, merged_turns=1, first=first, clock=ticks()))
    assert found.result.complete
    assert found.errors() == plain.errors()
    assert found.lines() == plain.lines()
    if found.result.paths_total == found.result.paths_multiplicity:
        assert found.result.paths_total == plain.result.paths_total
    else:
        assert found.result.paths_total < plain.result.paths_total
    assert found.run.tree.live == 0


def test_the_plain_lane_has_the_turns_of_a_run_without_merging(tmp_path: Path) -> None:
    options = ("--search", "places", "--batch-forks", "2")
    plain = explore(tmp_path, COUNTING, *options)
    found = dual(tmp_path, COUNTING, *options, tuning=lanes(first=1e9))
    assert found.run.turns.taken == plain.run.turns.taken


def test_stopped_in_the_middle(tmp_path: Path) -> None:
    options = ("--max-instructions", "100", "--loops", "rounds")
    found = dual(tmp_path, LARGE, *options, tuning=lanes(turns=1, first=0))
    assert not found.result.complete
    assert found.result.losses
    assert found.run.tree.live == 0


def test_a_loss_of_the_lane_that_ends_is_told(tmp_path: Path) -> None:
    """Plain exploration ends with a path lost, while merging stands for more paths but is not through."""
    options = ("--merge", "auto", "--tests", "none")
    run = prepare(tmp_path, COUNTING, *options, tuning=lanes(turns=1, first=1e12))[0]
    both = dual_of(run)
    both.plain.tally.losses.add("a path")
    both.merging.tally.multiplicity = 1_000_000
    result = run.run()
    assert not result.complete
    assert list(result.losses) == ["a path"]
    assert result.paths_multiplicity < 1_000_000


class ShortOfMemory:
    """Stands in for housekeeping: from some turn on there is no memory for the states of some lanes."""

    def __init__(self, run: Exploration, gone: tuple[str, ...], turn: int, running: str = "") -> None:
        self._run = run
        self._gone = gone
        self._left = turn
        self._running = running
        self._excess = run.housekeeping.excess

    def excess(self, worklist: Worklist) -> Sequence[State] | None:
        both = dual_of(self._run)
        self._left -= 1
        if self._excess(worklist) is None:
            return None
        if self._left > 0 or (self._running and both.running is not getattr(both, self._running)):
            return []
        return [state for name in self._gone for state in getattr(both, name).order.states()]


def short_of_memory(monkeypatch: pytest.MonkeyPatch, run: Exploration, *more: Any) -> None:
    monkeypatch.setattr(run.housekeeping, "excess", ShortOfMemory(run, *more).excess)


@pytest.mark.parametrize("gone", ["plain", "merging"])
@pytest.mark.parametrize("running", ["plain", "merging"])
def test_a_lane_without_states_has_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, running: str
) -> None:
    """What one lane had to give up is no loss if the other one comes to its end."""
    tuning = lanes(turns=1, merged_turns=1, first=0, clock=ticks())
    run = prepare(tmp_path, COUNTING, "--merge", "auto", "--tests", "none", tuning=tuning)[0]
    short_of_memory(monkeypatch, run, (gone,), 6, running)
    result = run.run()
    assert result.complete
    assert result.paths_multiplicity >= explore(tmp_path, COUNTING).result.paths_total
    assert getattr(dual_of(run), gone).tally.losses
    assert run.tree.live == 0


def test_both_lanes_gave_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepare(tmp_path, COUNTING, "--merge", "auto", "--tests", "none")[0]
    short_of_memory(monkeypatch, run, ("plain", "merging"), 4)
    result = run.run()
    assert not result.complete
    assert list(result.losses) == ["out-of-memory"]
    assert run.tree.live == 0


def test_both_lanes_get_the_same_time(tmp_path: Path) -> None:
    tuning = lanes(turns=1, merged_turns=1, first=0, merging=1, clock=ticks())
    options = ("--merge", "auto", "--tests", "none", "--max-instructions", "20000", "--loops", "rounds")
    run = prepare(tmp_path, LARGE, *options, tuning=tuning)[0]
    run.run()
    both = dual_of(run)
    assert both.plain.seconds > 20
    assert abs(both.plain.seconds - both.merging.seconds) <= 1


def test_regions_by_hand(tmp_path: Path) -> None:
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
    found = dual(tmp_path, source, tuning=lanes(turns=1, first=0))
    assert found.result.complete
    assert found.result.paths_total == 1
    assert found.result.paths_multiplicity == 729


@pytest.mark.parametrize("limit", [(), ("--max-time", "1000")])
def test_the_plain_lane_uses_the_search_order(tmp_path: Path, limit: tuple[str, ...]) -> None:
    options = ("--goal", "bugs", "--merge", "auto", "--tests", "covering", "--search", "random-path")
    run, collector = prepare(tmp_path, CALLS, *options, *limit, tuning=lanes(turns=1, first=0))
    assert dual_of(run).plain.order.description == "random-path"
    found = Found(run, run.run(), collector)
    assert found.result.complete
    assert found.errors() == explore(tmp_path, CALLS).errors()

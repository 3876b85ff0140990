"""Dynamic merging: families of paths that have just parted, and its share of limited time."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from anabranch.reduce.merging import dynamic, share
from tests.reduce.merging.harness import explore, flags
from tests.reduce.merging.test_merging import CALLS, COUNTING, MEMORY

LARGE = COUNTING.replace("b[5]", "b[24]").replace("i < 5", "i < 24")
LIMITED = ("--merge", "auto", "--merging", "dynamic", "--max-time", "1000")


@pytest.mark.parametrize("order", ["dfs", "bfs", "random-path", "random-state", "places"])
def test_paths_that_part_meet_again_whatever_the_order(tmp_path: Path, order: str) -> None:
    """There are more than 2^24 paths."""
    found = explore(tmp_path, LARGE, *flags("all", "dynamic", order), "--tests", "none")
    assert found.result.complete
    assert found.result.paths_multiplicity >= 2**24
    assert found.run.tree.states < 500


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock takes a second: what has its share does not depend on the machine."""
    seconds = count()
    monkeypatch.setattr(share, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr(dynamic, "FAMILY_TURNS", 4)


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize("source", [COUNTING, CALLS, MEMORY], ids=["counting", "calls", "memory"])
@pytest.mark.parametrize("part", [0.25, 0.75])
def test_with_a_share_of_the_time_the_same_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, part: float
) -> None:
    monkeypatch.setattr(share, "SHARE", part)
    plain = explore(tmp_path, source)
    shared = explore(tmp_path, source, *LIMITED, "--search", "random-path", "--verify-reductions")
    assert shared.result.complete
    assert shared.result.paths_exact == plain.result.paths_total
    assert shared.ends() == plain.ends()
    assert shared.errors() == plain.errors()
    assert shared.lines() == plain.lines()
    assert shared.result.reductions["wrong"] == 0
    assert shared.run.tree.live == 0


@pytest.mark.usefixtures("ticking")
def test_the_rest_of_the_time_goes_path_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More is merged, the larger the share."""
    ends = []
    for part in (0.0, 0.5, 1.0):
        monkeypatch.setattr(share, "SHARE", part)
        found = explore(tmp_path, COUNTING, *LIMITED, "--search", "random-path", "--tests", "none")
        assert found.result.complete
        ends.append(found.result.paths_total)
    assert ends[0] > ends[1] > ends[2]


@pytest.mark.usefixtures("ticking")
def test_a_family_that_takes_too_long_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic, "FAMILY_TURNS", 1000)
    monkeypatch.setattr(share, "SHARE", 1.0)
    together = explore(tmp_path, COUNTING, *LIMITED, "--tests", "none")
    monkeypatch.setattr(share, "FAMILY_SHARE", 1e-3)
    apart = explore(tmp_path, COUNTING, *LIMITED, "--tests", "none")
    assert together.result.complete and apart.result.complete
    assert apart.run.tree.states > together.run.tree.states

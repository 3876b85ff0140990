"""Dynamic merging: families of paths that have just parted, and its share of limited time."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from anabranch.explore.budget import Share
from anabranch.reduce.merging.tuning import FamilyShares, MergeTuning
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
    monkeypatch.setattr(Share, "now", staticmethod(lambda: float(next(seconds))))


def tuned(share: float, turns: int = 4, longest: float = 0.125) -> MergeTuning:
    return MergeTuning(families=FamilyShares(turns, share, longest))


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize("source", [COUNTING, CALLS, MEMORY], ids=["counting", "calls", "memory"])
@pytest.mark.parametrize("part", [0.25, 0.75])
def test_with_a_share_of_the_time_the_same_is_found(tmp_path: Path, source: str, part: float) -> None:
    plain = explore(tmp_path, source)
    options = (*LIMITED, "--search", "random-path", "--verify-reductions")
    shared = explore(tmp_path, source, *options, tuning=tuned(part))
    assert shared.result.complete
    assert shared.result.paths_exact == plain.result.paths_total
    assert shared.ends() == plain.ends()
    assert shared.errors() == plain.errors()
    assert shared.lines() == plain.lines()
    assert shared.merging["wrong"] == 0
    assert shared.run.tree.live == 0


@pytest.mark.usefixtures("ticking")
def test_the_rest_of_the_time_goes_path_by_path(tmp_path: Path) -> None:
    """More is merged, the larger the share."""
    ends = []
    for part in (0.0, 0.5, 1.0):
        options = (*LIMITED, "--search", "random-path", "--tests", "none")
        found = explore(tmp_path, COUNTING, *options, tuning=tuned(part))
        assert found.result.complete
        ends.append(found.result.paths_total)
    assert ends[0] > ends[1] > ends[2]


@pytest.mark.usefixtures("ticking")
def test_a_family_that_takes_too_long_parts(tmp_path: Path) -> None:
    options = (*LIMITED, "--tests", "none", "--loops", "off")
    together = explore(tmp_path, COUNTING, *options, tuning=tuned(1.0, 1000))
    apart = explore(tmp_path, COUNTING, *options, tuning=tuned(1.0, 1000, 1e-3))
    assert together.result.complete and apart.result.complete
    assert apart.run.tree.states > together.run.tree.states

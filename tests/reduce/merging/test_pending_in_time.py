"""Pending tests of merged states are written while the budget has time for them."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from anabranch.explore.budget import Budget
from tests.reduce.merging.harness import explore, flags

SOURCE = """
#include <klee/klee.h>
int main(void) {
  unsigned char x[4];
  klee_make_symbolic(x, sizeof x, "x");
  unsigned found = 0;
  for (int i = 0; i < 4; i++) {
    if (x[i] == i + 1) found |= 1u << i;
    else if (x[i] == 40) found += 100;
  }
  return found;
}
"""


@pytest.mark.parametrize("until", [inf, -inf])
def test_pending_tests_are_left_out_when_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: float
) -> None:
    monkeypatch.setattr(Budget, "tests_until", until)
    monkeypatch.setattr(Budget, "time_is_up", False)
    found = explore(tmp_path, SOURCE, "--tests", "covering", "--loops", "off", *flags("all", "static", "dfs"))
    assert found.merges
    assert found.result.paths_exit == 1
    in_time = until == inf
    assert found.result.complete is in_time
    assert ("no time for a test" in found.result.losses) is not in_time
    assert len(found.collector.tests) >= (2 if in_time else 1)

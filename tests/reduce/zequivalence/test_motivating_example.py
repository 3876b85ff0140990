"""The motivating example of the paper (Figure 2), in C."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reduce.zequivalence.harness import figures, kept, plain, removing, same_findings

SOURCE = """
static int readData(char type) {
  int sum = 0;
  if ('F' == type) {
    for (int i = 0; __VERIFIER_nondet_bool(); i++) {
      if (i == 2) __VERIFIER_assume(0);
      sum += __VERIFIER_nondet_int();
    }
  } else {
    for (int i = 0; __VERIFIER_nondet_bool(); i++) {
      if (i == 2) __VERIFIER_assume(0);
      sum += __VERIFIER_nondet_int();
    }
  }
  return sum;
}
static int readAndNoti(void) {
  int type = __VERIFIER_nondet_int();
  int s = readData(type);
  if (s >= 0) puts("Zero or Positive"); else puts("negative");
  return s;
}
int main(void) {
  int rawInput = readAndNoti();
  assert(rawInput >= LEAST);
  return 0;
}
"""
FAILS = SOURCE.replace("LEAST", "0")
HOLDS = SOURCE.replace("LEAST", "-2147483647 - 1")


def test_states_of_the_paper(tmp_path: Path) -> None:
    """readData: six states, C1, C2, C4 and C5 are kept. readAndNoti: eight constraints, of which two are not
    satisfiable, so that six states come back, and three are kept."""
    found = removing(tmp_path, FAILS, "--zeq-observe", "function", "--verify-reductions")
    assert kept(found) == {"readData": (6, 4), "readAndNoti": (6, 3)}
    assert figures(found)["verified"] == 5
    assert figures(found)["wrong"] == 0


def test_what_callers_can_still_read(tmp_path: Path) -> None:
    """`type` is not read behind the call of readData: only 0 and anything at all are told apart."""
    found = removing(tmp_path, FAILS, "--verify-reductions")
    assert kept(found) == {"readData": (6, 2), "readAndNoti": (3, 3)}
    assert figures(found)["wrong"] == 0


@pytest.mark.parametrize("observe", ["live", "function"])
@pytest.mark.parametrize("source", [FAILS, HOLDS], ids=["fails", "holds"])
def test_the_verdict_of_the_assertion(tmp_path: Path, source: str, observe: str) -> None:
    everything = plain(tmp_path, source)
    found = removing(tmp_path, source, "--zeq-observe", observe)
    same_findings(found, everything)
    assert bool(found.errors()) == (source == FAILS)
    assert found.result.paths_total < everything.result.paths_total
    assert found.result.paths_multiplicity == everything.result.paths_multiplicity

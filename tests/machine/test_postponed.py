"""Hard queries are put back: the path waits at its instruction, runs it again, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.expr import Expr
from anabranch.solver import Decision, QueryLimits, Slice, SliceSpace, SolverUnknown
from anabranch.solver.valuation import VALUATIONS
from tests.machine.harness import Outcome, load, read_expectations, run_program, run_source
from tests.machine.test_subjects import FILES

VARIANTS = ((), ("--search", "dfs"), ("--interpret", "--batch-forks", "1"))
Refuse = Callable[[Callable[[int | None], bool]], list[int | None]]


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """Refuses conditions by how often they were put back (None: they cannot be); every one counts as hard.
    Gives the list of all attempts."""
    decide = SliceSpace.decide
    attempts: list[int | None] = []

    def refuse(refused: Callable[[int | None], bool]) -> list[int | None]:
        def decided(self: SliceSpace, s: Slice, cond: Expr) -> Decision:
            attempt = self.limits.attempt
            attempts.append(attempt)
            if refused(attempt):
                raise SolverUnknown(VALUATIONS.value(cond, s.model) is True)
            return decide(self, s, cond)

        monkeypatch.setattr(SliceSpace, "decide", decided)
        monkeypatch.setattr(QueryLimits, "was_hard", True)
        return attempts

    return refuse


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_putting_paths_back_changes_nothing(path: Path, refuse: Refuse) -> None:
    arguments = [str(path), "--tests", "all", *read_expectations(path.read_text()).options]
    program = load(settings_from_args(arguments))
    expected = run_program(program, settings_from_args([*arguments, "--search", "dfs"]))
    refuse(lambda attempt: attempt == 0)
    for variant in VARIANTS:
        found = run_program(program, settings_from_args([*arguments, *variant]))
        decider = found.exploration.machine.decider
        assert decider.postponed >= (decider.forks > 0)
        for key, value in expected.summary().items():
            assert found.summary()[key] == value, f"{key} with {' '.join(variant)}"


BRANCHES = """
#include <klee/klee.h>
int main(void) {
  unsigned char x, y;
  klee_make_symbolic(&x, 1, "x");
  klee_make_symbolic(&y, 1, "y");
  int found = 0;
  if (x == 7) found = 1;
  if (y > 3 && y < 100) found += 2;
  return found;
}
"""


def exits(outcome: Outcome) -> set[int | None]:
    return {test.exit_code for test in outcome.collector.tests}


@pytest.mark.parametrize("how", [(), ("--goal", "bugs"), ("--goal", "paths", "--merge", "qce")])
def test_more_time_is_given_step_by_step(tmp_path: Path, refuse: Refuse, how: tuple[str, ...]) -> None:
    attempts = refuse(lambda attempt: attempt is not None and attempt < 2)
    outcome = run_source(tmp_path, BRANCHES, *how)
    assert outcome.result.complete
    assert exits(outcome) == {0, 1, 2, 3}
    assert {0, 1, 2} <= set(attempts)


def test_a_query_that_is_never_decided_is_a_loss(tmp_path: Path, refuse: Refuse) -> None:
    attempts = refuse(lambda attempt: attempt is not None)
    outcome = run_source(tmp_path, BRANCHES)
    assert outcome.losses() == {"solver gave up": 2}  # the second one is about y, the rest is fixed then
    assert not outcome.result.complete
    assert outcome.result.paths_exit == 1
    assert max(attempt for attempt in attempts if attempt is not None) == 2


def test_when_time_is_up_the_path_is_one_that_is_left(tmp_path: Path, refuse: Refuse) -> None:
    refuse(lambda attempt: True)
    outcome = run_source(tmp_path, BRANCHES, "--max-time", "1ms")
    assert outcome.losses() == {"max-time": 1}


def test_a_check_inside_a_model_is_asked_again_at_once(tmp_path: Path, refuse: Refuse) -> None:
    """The model of `memset` may have acted already when it checks."""
    source = """
        #include <klee/klee.h>
        #include <string.h>
        int main(void) {
          char buffer[16];
          unsigned n;
          klee_make_symbolic(&n, sizeof n, "n");
          klee_assume(n < 3);
          memset(buffer, 0, n);
          return n;
        }
    """
    expected = run_source(tmp_path, source).summary()
    attempts = refuse(lambda attempt: attempt == 0)
    outcome = run_source(tmp_path, source)
    assert outcome.summary() == expected
    assert None in attempts

"""The examples of the paper, and programs whose paths are mostly redundant."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.expr import eq, ugt, ult, var
from anabranch.machine.tape import Forced
from anabranch.reduce.redundancy.constraints import Constraints, implied
from anabranch.reduce.redundancy.live import Live
from anabranch.solver import SliceSpace
from bench.lib.coverage_runs import explore_covering, load
from bench.lib.subjects import HERE
from tests.reduce.redundancy.harness import both, detected
from tests.reduce.redundancy.test_traps import variants

FOUR_STATES = """
int main(void) {
  unsigned char w, m;
  switch (IN & 3) {
  case 0: w = same(0), m = same(1); break;
  case 1: w = same(1), m = same(1); break;
  case 2: w = same(2), m = same(1); break;
  default: w = same(3), m = same(0);
  }
  if (w) mark(1); else mark(2);
  if (m) exit(0);
  exit(1);
}"""


def test_the_four_states_of_section_two(tmp_path: Path) -> None:
    """The third state is redundant: its value of w is another one, which decides about nothing new."""
    plain, some = both(tmp_path, FOUR_STATES, "bfs", "--no-keep-errors")
    assert some.pieces == plain.pieces
    assert some.figures["dropped"] >= 1


READS = """
static KEPT int fetch(void) { unsigned char n = IN & 7; marks = n; return marks; }
int main(void) {
  for (int i = 0; i < 3; i++) {
    int bytes_read = fetch();
    if (bytes_read <= 0) break;
    mark(1);
  }
  return 0;
}"""


@pytest.mark.parametrize("order", ("dfs", "random-path"))
def test_a_loop_over_what_was_read(tmp_path: Path, order: str) -> None:
    plain, some = both(tmp_path, READS, order, "--no-keep-errors")
    assert some.pieces == plain.pieces


SUBJECTS = {"tokens": 200, "key_value": 520, "regexp": 100, "rle_decode": 700, "memspn": 20}
"""Subjects that are explored to their end, depth first, and the states that this may take."""


@pytest.mark.parametrize("name", SUBJECTS)
def test_most_states_of_small_programs_are_redundant(name: str) -> None:
    source = HERE / f"{name}.c"
    program = load(source)
    plain = explore_covering(program, source, ("--search", "dfs"))
    how = ("--search", "dfs", "--redundancy", "on", "--no-keep-errors", "--verify-reductions")
    some = explore_covering(program, source, how)
    assert plain.is_exact and some.is_exact and some.pieces == plain.pieces
    assert some.figures["wrong"] == 0
    assert some.states <= SUBJECTS[name]


def test_constraints_are_compared_as_sets() -> None:
    space = SliceSpace()
    x, y = var("x", 8), var("y", 8)
    first = space.assume(space.root(x.a), ugt(x, 3, 8))
    second = space.assume(first, ugt(x, 7, 8))
    other = space.assume(space.root(y.a), eq(y, 1, 8))
    assert first is not None and second is not None and other is not None
    assert implied(first, {x.a: first, y.a: other})
    assert not implied(first, {x.a: space.root(x.a)})
    assert implied(first, {x.a: second}) == (first.constraints <= second.constraints)


def test_values_are_compared_as_sets() -> None:
    space = SliceSpace()
    x = var("x", 8)
    below, above = space.assume(space.root(x.a), ult(x, 3, 8)), space.assume(space.root(x.a), ugt(x, 7, 8))
    two = space.assume(space.root(x.a), eq(x, 2, 8))
    assert below is not None and above is not None and two is not None
    low, high = Constraints.of([below]), Constraints.of([above])
    assert low.allow({x.a: two}) and not high.allow({x.a: two}) and not low.allow({x.a: above})
    both = low.united(high)
    assert both is not None and both.allow({x.a: below}) and both.allow({x.a: above})
    assert not both.allow({x.a: space.root(x.a)})
    assert both.include(low) and not low.include(both)


ERRORS = """
static unsigned char table[4] = {1, 2, 3, 4};
int main(void) {
  unsigned char x = IN, i = IN, y = IN, n = 0;
  if (x == 1) { mark(0); n = i; }
  if (y == 1) mark(1);
  if (y == 2) mark(2);
  marks += table[n];
  return 0;
}"""


@pytest.mark.parametrize("order", ("dfs", "bfs", "random-path"))
def test_places_of_errors_are_kept(tmp_path: Path, order: str) -> None:
    plain, some = both(tmp_path, ERRORS, order)
    assert len(plain.errors) == 1
    assert {error[1:] for error in some.errors} == {error[1:] for error in plain.errors}


DEAD = """
int main(void) {
  unsigned char x = IN & 3, y = IN;
  if (y == 1) mark(1);
  if (same(x) > 3)
    mark(2);
  return 0;
}"""


def test_what_is_left_uncovered_is_proved_dead(tmp_path: Path) -> None:
    _, some = both(tmp_path, DEAD, "dfs", "--no-keep-errors")
    text = (tmp_path / "subject.c").read_text().splitlines()
    assert [text[int(place.rsplit(":", 1)[1]) - 1].strip() for place in some.figures["proved dead"]] == [
        "mark(2);"
    ]


def test_code_behind_an_error_is_not_called_dead(tmp_path: Path) -> None:
    source = "int main(void) { char a[2]; a[5 + (IN & 1)] = 1; mark(1);\n return 0; }"
    _, some = both(tmp_path, source, "dfs", "--no-keep-errors")
    assert "proved dead" not in some.figures


def test_a_setting_is_off_unless_asked_for() -> None:
    from anabranch.reduce.redundancy.settings import RedundancySettings

    assert settings_from_args(["x.c"]).group(RedundancySettings).use == "off"


SPEAKS = """
static char line[16];
static KEPT void say(int n) { line[n & 15] = 'x'; if (n > 2) marks++; }
static KEPT int twice(int n) { say(n); mark(n); return n * 2; }
int main(void) {
  unsigned char kept = 0;
  for (int i = 0; i < 4; i++) {
    unsigned char c = IN;
    say(c > 9);
    if (c > 99) kept += twice(c > 200); else twice(i);
  }
  if (kept == 9) mark(1);
  return line[0] == 'y';
}"""


def test_calls_that_are_skipped_backwards_change_nothing(tmp_path: Path) -> None:
    """What is relevant where each stretch begins is the same as if all items were gone over."""
    technique = detected(tmp_path, SPEAKS, "--no-redundancy-joins")
    slicer, stretches = technique._slicer, technique._stretches
    before = slicer.skipped
    stretches.slice_again()
    assert slicer.skipped > before
    skipping = [relevant(stretch.live) for stretch in stretches.closed]
    before = slicer.skipped
    for stretch in stretches.closed:
        stretch.calls = {}
    stretches.slice_again()
    assert slicer.skipped == before
    assert [relevant(stretch.live) for stretch in stretches.closed] == skipping


def relevant(live: Live | None) -> tuple[object, ...]:
    assert live is not None
    frames = [(frame.registers, frame.needed, frame.matters) for frame in live.frames]
    return frames, live.pages, live.parts, live.wanted, live.halts, live.top


def test_a_call_that_cuts_inputs_off_is_not_skipped(tmp_path: Path) -> None:
    """What is noted of the first instructions of a callee stands in front of them on the tape."""
    trap = "a constraint that came with a check in a callee"
    technique = detected(tmp_path, variants(trap)[0], "--no-redundancy-joins")
    cut_off = [stretch for stretch in technique._stretches.closed if any(map(is_forced, stretch.tape))]
    assert cut_off
    for stretch in cut_off:
        first = next(filter(is_forced, stretch.tape))
        assert stretch.tape.index(first) + 2 not in stretch.calls.values()  # behind what it has touched


def is_forced(item: object) -> bool:
    return isinstance(item, Forced)

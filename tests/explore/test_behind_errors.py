"""Code behind errors that no path has run is named, in complete runs too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.harness import Outcome, run_source

CALLS = """#include <klee/klee.h>
static int never(int *p) {
  return *p + 1;
}
static int fails(int x) {
  int zero = 0;
  if (x == 5)
    return 7 / zero;
  x++;
  return x;
}
int main(void) {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  if (x == 3)
    return 1;
  klee_assume(x == 5);
  x = fails(x);
  if (x > 4)
    return never(&x);
  return 2;
}
"""
POINTERS = """static int one(int x) { return x + 1; }
static int other(int x) { return x + 2; }
static int unrelated(void) { return 3; }
int (*table[])(int) = { one, other };
int main(void) {
  int *null = 0;
  *null = 1;
  return table[*null](3);
}
int (*kept)(void) = unrelated;
"""
ONE_SIDE = """#include <klee/klee.h>
int main(void) {
  int x, y = 8;
  klee_make_symbolic(&x, sizeof x, "x");
  y = y / x;
  if (x == 0)
    return 1;
  return y;
}
"""
ASSERTION = """#include <assert.h>
#include <klee/klee.h>
int main(void) {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  assert(x > 3);
  if (x > 2)
    return 1;
  return 2;
}
"""
CLEAN = """#include <klee/klee.h>
int main(void) {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  if (x > 2 && x < 1)
    return 1;
  return 2;
}
"""
CASES: dict[str, tuple[str, dict[str, tuple[set[int], bool]]]] = {
    "behind a call": (
        CALLS,
        {"fails": ({11}, False), "main": ({19, 20, 21}, False), "never": ({3}, True)},
    ),
    "through pointers of the type": (
        POINTERS,
        {"main": ({8}, False), "one": ({1}, True), "other": ({2}, True)},
    ),
    "on inputs that fail": (ONE_SIDE, {"main": ({7}, False)}),
    "an assertion that fails ends the program itself": (ASSERTION, {}),
    "no error": (CLEAN, {}),
}


def unexplored(outcome: Outcome) -> dict[str, tuple[set[int], bool]]:
    return {
        item.function: ({line for lines in item.lines.values() for line in lines}, item.whole)
        for item in outcome.result.unexplored
    }


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_lines_behind_errors(tmp_path: Path, source: str, expected: dict[str, tuple[set[int], bool]]) -> None:
    outcome = run_source(tmp_path, source, "-O", "0")
    assert outcome.result.complete
    found = unexplored(outcome)
    assert found.keys() == expected.keys()
    for name, (lines, whole) in expected.items():
        # The compiler gives the end of a function's body to one line or the other.
        assert lines <= found[name][0]
        assert found[name][1] is whole
    covered = {
        line for _, line in outcome.exploration.table.lines_covered(outcome.exploration.machine.counters.N)
    }
    assert not covered & {line for lines, _ in found.values() for line in lines}


def test_without_debug_information(tmp_path: Path) -> None:
    source = """
define i32 @later() {
  ret i32 3
}
define i32 @main() {
  store i32 1, ptr null
  %r = call i32 @later()
  ret i32 %r
}
"""
    outcome = run_source(tmp_path, source, suffix=".ll")
    assert unexplored(outcome) == {"main": (set(), False), "later": (set(), True)}

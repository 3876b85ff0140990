"""`--check memtrack`, `--check memcleanup`, and `--check leak`, which is both; also behind merged states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.harness import run_source

PROGRAM = """#include <klee/klee.h>
#include <stdlib.h>
static char *kept;
int main(void) {
  int x = klee_int("x");
  if (x > 10) {
    kept = malloc(1);
    return 0;
  }
  if (x > 0)
    malloc(2);
  return 0;
}
"""
KEPT, LOST = ("never-freed", 7), ("leak", 11)


@pytest.mark.parametrize(
    ("check", "errors"),
    [
        ((), []),
        (("memtrack",), [LOST]),
        (("memcleanup",), [KEPT, ("never-freed", 11)]),
        (("leak",), [LOST, KEPT]),
        (("memtrack", "memcleanup"), [LOST, KEPT]),
    ],
    ids=lambda value: "-".join(value) if value and isinstance(value[0], str) else "",
)
def test_what_is_asked_for_is_told(
    tmp_path: Path, check: tuple[str, ...], errors: list[tuple[str, int]]
) -> None:
    flags = [word for name in check for word in ("--check", name)]
    outcome = run_source(tmp_path, PROGRAM, *flags)
    assert outcome.errors() == sorted(errors)
    assert outcome.result.complete


ONE_OF_TWO = """#include <klee/klee.h>
#include <stdlib.h>
static char *kept[2], *other;
int main(void) {
  unsigned char i = klee_range(0, 2, "i");
  kept[0] = malloc(3);
  kept[1] = malloc(4);
  kept[i] = NULL;
  return 0;
}
"""


def test_what_points_may_depend_on_the_input(tmp_path: Path) -> None:
    """One path, on which one object or the other is lost."""
    outcome = run_source(tmp_path, ONE_OF_TWO, "--check", "memtrack")
    assert outcome.errors() == [("leak", 6), ("leak", 7)]
    assert sorted(dict(test.objects)["i"][0] for test in outcome.collector.tests) == [0, 1]
    assert outcome.result.complete

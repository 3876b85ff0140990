"""A place in a callee that is reached through several calls is one question of the caller."""

from __future__ import annotations

from pathlib import Path

from anabranch.check.settings import CheckSettings
from tests.check.support import checked

SOURCE = """
#include <assert.h>
static void small(int n) { assert(n < 4); }
static void three(int a, int b, int c) {
    small(a);
    small(b);
    small(c);
}
void good(int n) {
    if (n < 3)
        three(n, n + 1, 2);
}
void bad(int n) {
    if (n < 4)
        three(n, n + 1, 2);
}
"""


def test_it_is_counted_once_and_all_its_calls_are_left_to_the_callers(tmp_path: Path) -> None:
    source = tmp_path / "together.c"
    source.write_text(SOURCE)
    checker, result = checked(source)
    three, good = checker.records["three"], checker.records["good"]
    assert (three.conditions, len(three.left)) == (1, 3)
    assert three.verdicts == {"left to the callers": 1}
    assert (good.conditions, dict(good.verdicts)) == (1, {"proved": 1})
    # The first call cannot fail, the second can.
    (finding,) = result.findings
    assert [call.loc.line for call in finding.condition.calls if call.loc] == [15, 6]
    assert finding.condition.function.name == "bad" and not result.verdicts["undecided"]


def test_without_time_it_is_undecided(tmp_path: Path) -> None:
    source = tmp_path / "together.c"
    source.write_text(SOURCE)
    _, result = checked(source, CheckSettings(function_polls=0))
    assert result.undecided == {"the time of a function is up": 1} and not result.findings

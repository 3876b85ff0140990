"""Runs that aim at lines: what comes of targets, which states are last, and what a wrong target says."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.analysis.reach import MayReach
from anabranch.cli.main import main
from anabranch.explore.search.target import OutOfReachLast
from anabranch.explore.tree import ExecutionTree
from anabranch.ir import read_module
from tests.explore.fakes import FakeState, spine
from tests.explore.test_search import make
from tests.machine.harness import Outcome, run_source

SOURCE = """#include <klee/klee.h>
static int *pick(int n) { static int some; return n > 5 ? 0 : &some; }
static void work(int n) {
  int *p = pick(n);
  *p = 3;
}
static int other(char *s) {
  int count = 0;
  for (int i = 0; i < 12; i++)
    if (s[i] == 'x') count++;
  return count;
}
int main(void) {
  int a, b; char s[12];
  klee_make_symbolic(&a, 4, "a");
  klee_make_symbolic(&b, 4, "b");
  klee_make_symbolic(s, 12, "s");
  if (a == 17) work(b);
  else if (a > 3 && a < 4)
    work(3);
  else if (a == 19)
    work(4);
  else return other(s);
  return 0;
}
"""
CASES = {
    "error": ("subject.c:5", "error", "null-pointer"),
    "reached by every path that can, without an error": ("subject.c:4", "no error", None),
    "no path leads there": ("subject.c:20", "unreachable", None),
}


def statuses(outcome: Outcome) -> list[tuple[int, str, str | None]]:
    return [(target.line, target.status, target.kind) for target in outcome.result.targets]


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_comes_of_a_target(tmp_path: Path, case: tuple[str, str, str | None]) -> None:
    target, status, kind = case
    outcome = run_source(tmp_path, SOURCE, "--target", target)
    assert [(status, kind)] == [row[1:] for row in statuses(outcome)]
    assert outcome.result.stopped == "target" and not outcome.result.complete
    # The 4,096 paths of `other` cannot reach any of these lines.
    assert outcome.result.paths_total < 20


def test_a_run_that_ends_early_claims_nothing(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, SOURCE, "--target", "subject.c:11", "--max-instructions", "2000")
    assert statuses(outcome) in ([(11, "reached", None)], [(11, "not reached", None)])


def test_all_targets_are_searched_for(tmp_path: Path) -> None:
    source = """#include <klee/klee.h>
    int main(void) { int a; klee_make_symbolic(&a, 4, "a"); int *p = 0;
      if (a == 1)
        return *p;
      if (a == 2)
        return 4 / (a - 2);
      return 0; }"""
    targets = ("--target", "subject.c:4", "--target", "subject.c:6")
    found = run_source(tmp_path, source, *targets)
    assert statuses(found) == [(4, "error", "null-pointer"), (6, "error", "division-by-zero")]


def test_an_error_in_the_library_is_at_the_call(tmp_path: Path) -> None:
    source = """#include <string.h>
    #include <klee/klee.h>
    int main(void) { int a; klee_make_symbolic(&a, 4, "a");
      return a == 7 ?
        (int)strlen(a == 7 ? 0 : "x") : 0; }"""
    assert statuses(run_source(tmp_path, source, "--target", "subject.c:5")) == [(5, "error", "null-pointer")]


def test_losses_are_no_proof(tmp_path: Path) -> None:
    source = """int unknown(void);
    int main(void) {
      if (unknown() == 3)
        return 1;
      return 0; }"""
    assert statuses(run_source(tmp_path, source, "--target", "subject.c:4")) == [(4, "not reached", None)]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("subject.c:7", "subject.c:7 has no code; the nearest lines with code are 6 and 8"),
        ("absent.c:3", "there is no code of a file absent.c, but of subject.c"),
        ("subject.c", "write FILE:LINE"),
        ("subject.c:0", "write FILE:LINE"),
    ],
)
@pytest.mark.parametrize("command", ["run", "unit"])
def test_a_wrong_target_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    target: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("subject.c").write_text(
        "int f(int n) {\n  if (n)\n    return 1;\n  n++;\n  return n;\n}\n\nint main(void) { return f(2); }\n"
    )
    assert main([command, "subject.c", *(["f"] if command == "unit" else []), "--target", target]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert message in said[-1] and "Traceback" not in said[-1]
    assert not list(tmp_path.glob("anabranch-out*"))


# ---- who can get there -------------------------------------------------------------------------------

MODULE = """
@table = global ptr @callback
declare void @longjmp(ptr, i32)
declare i32 @atexit(ptr)
define void @goal() {
  ret void
}
define void @callback() {
  call void @goal()
  ret void
}
define void @direct(i1 %c) {
  br i1 %c, label %yes, label %no
yes:
  call void @callback()
  br label %end
no:
  br label %end
end:
  ret void
}
define void @indirect(ptr %f) {
  call i32 %f(i32 1)
  ret void
}
define void @jumps() {
  call void @longjmp(ptr null, i32 1)
  ret void
}
define void @never() {
  ret void
}
"""


def test_reach_is_never_too_small() -> None:
    reach = MayReach(read_module(MODULE), {"goal": [0]})
    assert list(reach.function("direct")) == [True, True, False, False]
    assert list(reach.function("indirect")) == [True], "whatever the type of the call"
    assert list(reach.function("jumps")) == [True]
    assert list(reach.function("never")) == [False]


def test_functions_that_run_at_exit_are_reached_from_everywhere() -> None:
    text = MODULE + "define void @sets() {\n  call i32 @atexit(ptr @callback)\n  ret void\n}\n"
    assert list(MayReach(read_module(text), {"goal": [0]}).function("never")) == [True]
    assert list(MayReach(read_module(text), {"direct": [1]}).function("never")) == [False]


def test_states_out_of_reach_come_last_and_are_told() -> None:
    tree = ExecutionTree()
    states = spine(tree, 5)
    told: list[str] = []
    near = set(states[::2])
    search: OutOfReachLast[FakeState] = OutOfReachLast(
        make("bfs", tree), near.__contains__, lambda: told.append("exhausted")
    )
    search.add(states)
    assert len(search) == 5 and set(search.states()) == set(states)
    assert [search.pick() for _ in near] == states[::2] and not told
    search.remove(states[1])
    assert search.pick() is states[3] and told == ["exhausted"]
    with pytest.raises(IndexError):
        search.pick()

"""A use of uninitialised memory is shown natively by what fresh memory holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.replay.record import record_text
from anabranch.replay.replay import ReplayOptions, replay
from anabranch.replay.witness import depends_on_fresh_memory, lines_of_errors
from anabranch.report.ktest import encode

USES = {
    "heap": "int *p = malloc(8); if (x) p[0] = 1; if (p[0] > 5) x = 3;",
    "stack": "int a[4]; if (x) a[two] = 1; if (a[two] == 9) x = 3;",
    "address": "unsigned char i[4]; static int t[256]; if (x) i[two] = 1; t[i[two]]++;",
    "length": "char *p = malloc(4); if (x) p[0] = 0; else p[3] = 0; if (strlen(p) > 9) x = 3;",
    "grown": "char *p = realloc(calloc(1, 1), 2); if (x) p[1] = 1; if (p[0] || p[1] == 3) x = 3;",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("checks", [True, False])
def test_true_uses_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str, checks: bool) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(
        "#include <klee/klee.h>\n#include <stdlib.h>\n#include <string.h>\nstatic int two = 2;\n"
        f'int main(void) {{ char x; klee_make_symbolic(&x, 1, "x"); {USES[use]} return 0; }}\n'
    )
    assert main(["run", "p.c", "--output-dir", "out", "-q"]) == 0
    assert len(lines_of_errors(tmp_path / "out")) == 1
    result = replay(tmp_path / "out", ReplayOptions(checks=checks))
    assert result.agrees
    assert [test.predicted.kind for test in result.tests if test.shown] == ["uninitialised"]


TWICE = """
#include <klee/klee.h>
#include <stdlib.h>
int main(void) {
  unsigned char n, a;
  klee_make_symbolic(&n, 1, "n");
  klee_make_symbolic(&a, 1, "a");
  n = n > 3 ? 3 : n < 1 ? 1 : n;
  char *p = malloc(n);
  if (a & 1) p[0] = 1; else p[n - 1] = 2;
  if (a == 17) n = 1;
  int r = p[0];
  if (r == 2) n = 0;
  return 0;
}
"""


@pytest.mark.parametrize("merging", [(), ("--goal", "paths", "--merge", "all")], ids=["plain", "merged"])
def test_every_test_that_ends_in_the_use_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, merging: tuple[str, ...]
) -> None:
    """An error is reported once, but more than one test may end in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(TWICE)
    assert main(["run", "p.c", "--tests", "all", "--output-dir", "out", "-q", *merging]) == 0
    result = replay(tmp_path / "out", ReplayOptions())
    assert [test.problem for test in result.problems] == []
    assert sum(test.shown for test in result.tests) > 1


def test_a_wrong_prediction_is_not_shown(tmp_path: Path) -> None:
    source = "#include <stdlib.h>\nint main(void) { char *p = calloc(1, 9), a[3] = {0}; return p[3] + *a; }\n"
    (tmp_path / "f.c").write_text(source)
    run = tmp_path / "run"
    run.mkdir()
    error = {"kind": "uninitialised", "test": 1, "file": str(tmp_path / "f.c"), "line": 2, "stack": []}
    document = {"settings": {"inputs": ["f.c"]}, "errors": [error]}
    (run / "run.json").write_text(json.dumps(document))
    (run / "program.json").write_text(record_text((Path("f.c"),), tmp_path))
    (run / "test000001.ktest").write_bytes(encode([]))
    (run / "tests.jsonl").write_text(json.dumps({"test": 1, "end": "error", "kind": "uninitialised"}) + "\n")
    result = replay(run, ReplayOptions())
    assert [test.problem for test in result.tests] == ["predicted uninitialised, native exit 0"]
    assert not any(test.shown for test in result.tests)


def test_frames_of_the_library_are_left_out(tmp_path: Path) -> None:
    stack = [{"file": "/anabranch/musl/src/string/strlen.c", "line": 3}, {"file": "/p.c", "line": 8}]
    errors = [{"kind": "uninitialised", "test": 4, **stack[0], "stack": stack}, {"kind": "division-by-zero"}]
    (tmp_path / "run.json").write_text(json.dumps({"errors": errors}))
    assert lines_of_errors(tmp_path) == {4: ("/p.c", 8)}


def test_runs_that_differ_by_themselves_prove_nothing() -> None:
    numbers = iter(range(10))
    assert not depends_on_fresh_memory(lambda filling: next(numbers))
    assert not depends_on_fresh_memory(lambda filling: 7)
    assert depends_on_fresh_memory(lambda filling: filling == 2)

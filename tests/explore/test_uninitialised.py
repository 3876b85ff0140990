"""`--uninitialised`: what memory and locals that were never written hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.main import main
from anabranch.machine.uninitialised import LARGEST
from anabranch.replay.replay import ReplayOptions, replay

# A failing assertion names what is possible: `any` fails where values may be anything, `zero` where they are
# zero, `never` nowhere.
PROGRAM = """#include <assert.h>
#include <klee/klee.h>
#include <stdlib.h>
struct pair { char tag; long value; };
static void in_register(int written) {
  int x;
  if (written) x = 1;
  assert(x != 7);               // any
  assert(x != 0 || written);    // any zero
  assert(x == 1 || !written);   // never
}
static void two_registers(void) {
  int x, y;
  assert(x == y);               // any
  double d;
  assert(!(d > 2.5));           // any
}
static void array(int i) {
  int a[4];
  a[1] = 3;
  assert(a[i & 3] != 9);        // any
  assert(a[1] == 3);            // never
  int same = a[2];
  assert(same == a[2]);         // never
}
static void structure(void) {
  struct pair p, q;
  p.tag = 1;
  q = p;
  assert(q.value == p.value);   // never
  assert(q.value != -5);        // any
}
static void block(void) {
  int *p = malloc(8), *q = malloc(8), *z = calloc(2, 4);
  assert(p[1] != 100);          // any
  assert(p[1] == q[1]);         // any
  assert(z[1] == 0);            // never
  p = realloc(p, 16);
  assert(p[3] != 6);            // any
}
static void large(void) {
  char buffer[1000];
  buffer[0] = 1;
  assert(buffer[999] != 4);     // any
  assert(buffer[999] != 0);     // any zero
}
static void body_of_a_loop(void) {
  int first = 0;
  for (int i = 0; i < 2; i++) {
    int y, a[2];
    if (i == 0) { first = y == 5 && a[1] == 8; y = a[1] = 8; continue; }
    assert(!first || y != 6);   // any
    assert(!first || a[1] != 3); // any
    assert(a[1] != 8);          // any
  }
}
static int again(int n) {
  int x[2];
  return n ? x[0] == 1 && again(n - 1) : x[0] == 2;
}
int main(void) {
  unsigned char c;
  klee_make_symbolic(&c, 1, "c");
  switch (c & 7) {
  case 0: in_register(c & 8); break;
  case 1: two_registers(); break;
  case 2: array(c >> 3); break;
  case 3: structure(); break;
  case 4: block(); break;
  case 5: large(); break;
  case 6: body_of_a_loop(); break;
  case 7: assert(!again(1));    // any
  }
  assert(c != 255);             // any zero
  return 0;
}
"""
LINES = PROGRAM.split("\n")


def lines_marked(word: str) -> set[int]:
    return {n for n, line in enumerate(LINES, 1) if word in line.partition("// ")[2].split()}


def explore(tmp_path: Path, source: str, *options: str) -> dict[str, Any]:
    (tmp_path / "p.c").write_text(source)
    assert main(["run", "p.c", "--output-dir", "out", "-q", *options]) == 0
    found: dict[str, Any] = json.loads((tmp_path / "out" / "run.json").read_text())
    return found


PLAIN = ("--goal", "paths", "--merge", "none")
WAYS = {
    "plain": PLAIN,
    "interpreted": (*PLAIN, "--interpret"),
    "merged": ("--goal", "paths", "--merge", "all"),
    "qce": ("--goal", "bugs", "--merge", "qce"),
    "zeq": ("--goal", "bugs", "--zeq", "exact"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("level", ["0", "1"])
@pytest.mark.parametrize(("mode", "word"), [("symbolic", "any"), ("zero", "zero")])
def test_what_values_are_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, word: str, level: str, way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = explore(tmp_path, PROGRAM, "--uninitialised", mode, "-O", level, *WAYS[way])
    assert run["complete"]
    assert {(error["kind"], error["line"]) for error in run["errors"]} == {
        ("assert", line) for line in lines_marked(word)
    }
    assert "uninitialised" not in run["checks"]


@pytest.mark.parametrize("level", ["0", "1"])
def test_by_default_a_decision_is_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = explore(tmp_path, PROGRAM, "-O", level, *PLAIN)
    assert {error["kind"] for error in run["errors"]} == {"uninitialised"}
    assert len(run["errors"]) == 8
    assert run["assumptions"]["uninitialised"] == {}
    assert "uninitialised" in run["checks"]


DECIDES = """#include <klee/klee.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char c;
  int unused[3], *p = malloc(4);
  klee_make_symbolic(&c, 1, "c");
  unused[0] = unused[1];
  if (c == 1) {
    int x;
    return x > 3;
  }
  if (c == 2 && *p == 9) return 4;
  if (c == 3) printf("%d", *p);
  free(p);
  return 0;
}
"""


def test_decisions_on_unknown_values_are_assumptions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(DECIDES)
    assert main(["run", "p.c", "--output-dir", "out", "--uninitialised", "symbolic", "--tests", "all"]) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assumed = run["assumptions"]["uninitialised"]
    assert assumed["values"] == "symbolic"
    # What is returned or printed decides nothing; `unused` is copied only.
    assert [name.replace(str(tmp_path), ".") for name in assumed["decided_on"]] == [
        "memory from malloc at ./p.c:6"
    ]
    shown = capsys.readouterr().out
    assert "Assumed that these may hold anything where they are uninitialised:\n  memory from malloc" in shown
    tests = [json.loads(line) for line in (tmp_path / "out" / "tests.jsonl").read_text().splitlines()]
    # `x > 3` is returned, `*p` decided on and printed: these tests do not say all of what happens.
    assert sorted(test.get("uninitialised", False) for test in tests) == [False, True, True, True, True]


def test_what_depends_on_unknown_values_is_not_compared_in_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    explore(tmp_path, DECIDES, "--uninitialised", "symbolic", "--tests", "all")
    result = replay(tmp_path / "out", ReplayOptions())
    assert result.agrees
    assert [test.compared for test in result.tests if not test.predicted.uninitialised] == [True]
    assert main(["replay", "out"]) == 0
    assert "4 tests not compared: uninitialised memory decides how they end" in capsys.readouterr().out


ZEROS = """#include <klee/klee.h>
#include <stdlib.h>
static int dirty(int n) { volatile int a[64]; for (int i = 0; i < 64; i++) a[i] = n; return a[5]; }
static int used(void) { int x, a[40], s = 0; for (int i = 0; i < 40; i++) s |= a[i]; return x | s; }
int main(void) {
  char c;
  klee_make_symbolic(&c, 1, "c");
  int *old = malloc(40);
  old[3] = dirty(77);
  free(old);
  int *p = malloc(40);
  if (c == 1) return used();
  if (c == 2) return p[3];
  for (int i = 0; i < 2; i++) {
    int y;
    if (y) return 5;
    y = 3;
  }
  return 0;
}
"""


def test_zeros_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = explore(tmp_path, ZEROS, "--uninitialised", "zero", "--tests", "all")
    assert run["assumptions"]["uninitialised"] == {"values": "zero"}
    result = replay(tmp_path / "out", ReplayOptions())
    assert result.agrees
    assert [(test.compared, test.native.code) for test in result.tests] == [(True, 0)] * 3


@pytest.mark.parametrize(("mode", "kinds"), [("symbolic", ["uninitialised"]), ("zero", [])])
def test_an_object_too_large_for_variables_stays_undefined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, kinds: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = f"""#include <stdlib.h>
    int main(void) {{ char *p = malloc({LARGEST + 1}); if (p[{LARGEST}] == 1) return 1; return 0; }}"""
    run = explore(tmp_path, source, "--uninitialised", mode)
    assert [error["kind"] for error in run["errors"]] == kinds

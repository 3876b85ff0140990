"""Tests of runs with functions without a body end natively as predicted: stubs answer as the test says."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.replay.replay import ReplayOptions, replay

PROGRAM = """
#include <assert.h>
#include <stdio.h>
#include <klee/klee.h>
struct node { int key; short tag; struct node *next; };
struct pair { long a, b; };
int ask(int n);
double speed(void);
struct node *find(int k);
struct pair both(void);
void note(const char *text);
unsigned char small(char c, ...);
int main(void) {
  unsigned char u;
  klee_make_symbolic(&u, 1, "u");
  note("start");
  if (ask(3) == ask(4) + 5) puts("five");
  if (u > 3 && speed() > 2.5) puts("fast");
  struct node *n = find(u);
  if (!n) return 3;
  if (n->key == 12 && n->next && n->next->tag == -4) { puts("second"); assert(n->next->key != 9); }
  struct pair p = both();
  if (p.a > 100 && p.b == p.a * 2) puts("pair");
  if (small('x', 1, 2) == 200) return n->next->key;
  return 0;
}
"""
SUMMARISED = """
#include <string.h>
int receive(char *data, int size);
void fatal(void);
int main(void) {
  char data[4];
  memset(data, 0, sizeof data);
  if (receive(data, 4) < 0) fatal();
  if (data[1] == 'k') return 7;
  return 0;
}
"""
SUMMARIES = "[receive.writes]\n1 = 4\n[fatal]\nnoreturn = true\n"


@pytest.mark.parametrize("how", [(), ("--goal", "bugs", "--merge", "all")], ids=["plain", "merged"])
def test_scalars_structs_and_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM)
    assert main(["run", "p.c", "--externals", "fresh", "--output-dir", "out", "-q", *how]) == 0
    result = replay(tmp_path / "out", ReplayOptions())
    assert [test.problem for test in result.problems] == []
    kinds = {test.predicted.kind for test in result.tests}
    assert {"assert", "null-pointer"} <= kinds
    assert all(test.compared for test in result.tests)


def test_memory_that_a_summary_says_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(SUMMARISED)
    (tmp_path / "known.toml").write_text(SUMMARIES)
    flags = ("--externals", "fresh", "--summaries", "known.toml", "--tests", "all")
    assert main(["run", "p.c", *flags, "--output-dir", "out", "-q"]) == 0
    result = replay(tmp_path / "out", ReplayOptions())
    assert [test.problem for test in result.problems] == []
    assert {test.predicted.exit_code for test in result.tests} == {0, 7}

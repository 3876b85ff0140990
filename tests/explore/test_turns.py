"""States that are stopped at any block, the beginning of a function included, go on as if they were not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main

PROGRAM = r"""
#include <klee/klee.h>
#include <stdarg.h>
static int sum(int n, ...) {
  va_list l;
  va_start(l, n);
  int s = 0;
  while (n--) s += va_arg(l, int);
  va_end(l);
  return s;
}
static int f(int a, int b, char *p) { return a * 3 + b + p[0]; }
static int g(int n) { char v[n]; v[n - 1] = n; return v[n - 1]; }
int main(void) {
  char x, y;
  klee_make_symbolic(&x, 1, "x");
  klee_make_symbolic(&y, 1, "y");
  int a = 2, b = 9;
  char q = 5;
  if (x > 3) a = 1;
  if (y > 5) b = 7;
  int r = f(a, b, &q) + sum(3, a, b, 5) + g(a + 3);
  int s = f(b, a, &q) + sum(2, r, b) + g(b);
  return (r * 31 + s) & 255;
}
"""


@pytest.mark.parametrize("instructions", [1, 2, 7, 1000])
def test_short_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, instructions: int) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM)
    turns = ["--batch-instructions", str(instructions), "--search", "bfs"]
    assert main(["run", "p.c", "--output-dir", "out", "--tests", "all", "-q", *turns]) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["complete"] and run["paths"]["exit"] == 4
    tests = map(json.loads, (tmp_path / "out" / "tests.jsonl").read_text().splitlines())
    assert sorted(test["exit_code"] for test in tests) == [41, 84, 179, 202]

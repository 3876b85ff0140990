"""Merging keeps every path exactly: whatever is merged, the same paths end in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reduce.merging.harness import KINDS, explore, flags

COUNTING = """
#include "klee/klee.h"
int main(void) {
  unsigned char b[5];
  klee_make_symbolic(b, sizeof b, "b");
  int n = 0;
  for (int i = 0; i < 5; i++) {
    if (b[i] > 'm') n++;
    else if (b[i] == 0) break;
  }
  if (n == 3) return 1;
  return n > 3 ? 2 : 0;
}
"""

CALLS = """
#include "klee/klee.h"
static int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
static int sign(int x) { if (x < 0) return -1; if (x > 0) return 1; return 0; }
int main(void) {
  char s[4];
  int x;
  klee_make_symbolic(s, sizeof s, "s");
  klee_make_symbolic(&x, sizeof x, "x");
  s[3] = 0;
  int n = length(s), k = sign(x);
  klee_assert(n + k != 4);
  return n * 3 + k + 1;
}
"""

MEMORY = """
#include "klee/klee.h"
#include <stdlib.h>
struct pair { int first; char *second; };
int main(void) {
  unsigned char b[3];
  klee_make_symbolic(b, sizeof b, "b");
  static char texts[2][3] = { "ab", "xy" };
  struct pair p = { 1, texts[0] };
  if (b[0] & 1) { p.first = 7; p.second = texts[1] + 1; }
  char *heap = 0;
  if (b[1] == 3) { heap = malloc(4); heap[2] = b[2]; }
  int r = p.first + p.second[0];
  if (heap) r += heap[2] > 5;
  return r & 127;
}
"""

DIFFERENCE = """
#include "klee/klee.h"
static const char text[] = "0123456789abcdef";
int main(void) {
  unsigned char b[4];
  char room[64] = { 0 };
  klee_make_symbolic(b, sizeof b, "b");
  klee_assume(b[0] < 4);
  klee_assume(b[1] < 4);
  const char *q = text, *end = text + 12;
  if (b[2] & 1) q = text + 3;
  if (b[2] & 2) q = q + 2;
  q += b[0];
  char *p = room;
  if (b[3] & 1) p = room + 9;
  if (b[3] & 2) p += b[1];
  p += end - q; /* that `end` is constant says nothing of `p` */
  *p = 'x';
  return p[0] == 'x' ? 0 : 1;
}
"""

PRINTING = """
#include "klee/klee.h"
#include <stdio.h>
int main(void) {
  unsigned char b[2];
  klee_make_symbolic(b, sizeof b, "b");
  printf("start ");
  if (b[0] < 10) printf("small ");
  else if (b[0] > 250) printf("large %d ", 4);
  unsigned char more;
  if (b[1] == 'm') { klee_make_symbolic(&more, 1, "more"); b[0] = more; }
  unsigned char last;
  klee_make_symbolic(&last, 1, "more");
  printf("end\\n");
  return (b[0] > 100) + 2 * (last == 9);
}
"""

UNINITIALISED = """
#include "klee/klee.h"
int main(void) {
  unsigned char b, c;
  klee_make_symbolic(&b, 1, "b");
  klee_make_symbolic(&c, 1, "c");
  int buf[4], k;
  if (b > 10) { buf[0] = 5; k = 1; } else k = 2;
  if (c > 10) k += 2; else k += 3;
  if (buf[c & 0] == 5) return k;
  return 7;
}
"""

RECURSION = """
#include "klee/klee.h"
static int depth(const char *s, int n) {
  if (n == 4) return 0;
  if (s[n] == '(') return 1 + depth(s, n + 1);
  if (s[n] == ')') return depth(s, n + 1) - 1;
  return depth(s, n + 1);
}
int main(void) {
  char s[4];
  klee_make_symbolic(s, sizeof s, "s");
  int d = depth(s, 0);
  return d == 2 ? 1 : d < 0 ? 2 : 0;
}
"""

PROGRAMS = {
    "counting": COUNTING,
    "calls": CALLS,
    "memory": MEMORY,
    "difference": DIFFERENCE,
    "printing": PRINTING,
    "uninitialised": UNINITIALISED,
    "recursion": RECURSION,
}


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_paths_end_in_the_same_way(tmp_path: Path, name: str, kind: tuple[str, str, str]) -> None:
    plain = explore(tmp_path, PROGRAMS[name])
    merged = explore(tmp_path, PROGRAMS[name], *flags(*kind), "--verify-reductions")
    assert merged.result.complete and plain.result.complete
    assert merged.result.paths_exact == plain.result.paths_total
    assert merged.ends() == plain.ends()
    assert merged.errors() == plain.errors()
    assert merged.lines() == plain.lines()
    assert merged.merging["wrong"] == 0
    names = {tuple(name for name, _ in test.objects) for test in plain.collector.tests}
    assert {tuple(name for name, _ in test.objects) for test in merged.collector.tests} == names


@pytest.mark.parametrize("name", PROGRAMS)
def test_states_are_merged_at_all(tmp_path: Path, name: str) -> None:
    """The comparison above would hold of runs that merge nothing, too."""
    plain = explore(tmp_path, PROGRAMS[name], "--tests", "none")
    merged = explore(tmp_path, PROGRAMS[name], "--tests", "none", *flags("all", "static", "dfs"))
    assert merged.merges > 0
    assert merged.result.paths_total < plain.result.paths_total
    assert merged.result.paths_multiplicity >= plain.result.paths_total


def test_every_covered_line_has_a_test(tmp_path: Path) -> None:
    source = """
    #include "klee/klee.h"
    int main(void) {
      unsigned char b[3];
      klee_make_symbolic(b, sizeof b, "b");
      int n = 0;
      if (b[0] == 'a') n += 1; else n += 2;
      if (b[1] == 'b') n += 4; else n += 8;
      if (b[2] == 'c') n += 16; else n += 32;
      return n > 100;
    }
    """
    found = explore(tmp_path, source, "--tests", "covering", *flags("all", "static", "dfs"))
    inputs = [dict(test.objects)["b"] for test in found.collector.tests]
    for position, letter in enumerate(b"abc"):
        assert {data[position] == letter for data in inputs} == {True, False}


def test_regions_by_hand(tmp_path: Path) -> None:
    source = """
    #include "klee/klee.h"
    int main(void) {
      unsigned char b[6];
      klee_make_symbolic(b, sizeof b, "b");
      int n = 0;
      for (int i = 0; i < 6; i++) {
        klee_open_merge();
        if (b[i] == 'a') n += 1; else if (b[i] == 'b') n += 2;
        klee_close_merge();
      }
      return n == 11;
    }
    """
    plain = explore(tmp_path, source)
    assert plain.result.paths_total == 729  # without anybody who merges, the regions mean nothing
    for kind in ("static", "dynamic"):
        merged = explore(tmp_path, source, "--merge", "qce", "--qce-alpha", "0", "--merging", kind)
        assert merged.result.paths_exact == 729
        assert merged.ends() == plain.ends()
        assert merged.run.tree.states < 20


def test_goals_choose_the_policy(tmp_path: Path) -> None:
    assert not explore(tmp_path, COUNTING).result.reductions
    assert explore(tmp_path, COUNTING, "--goal", "paths").result.reductions
    assert not explore(tmp_path, COUNTING, "--goal", "bugs", "--merge", "none").result.reductions


def test_same_seed_same_run(tmp_path: Path) -> None:
    options = ("--merge", "auto", "--merging", "dynamic", "--search", "random-path", "--seed", "4")
    first, second = (explore(tmp_path, CALLS, *options) for _ in range(2))
    assert [t.objects for t in first.collector.tests] == [t.objects for t in second.collector.tests]
    assert first.run.tree.states == second.run.tree.states


BEHIND_POINTERS = """
#include "klee/klee.h"
static unsigned char text[64];
static int mode;
unsigned char *volatile out = text;
int *volatile chosen = &mode;
int main(void) {
  unsigned char b[2];
  klee_make_symbolic(b, sizeof b, "b");
  if (b[0] < 5) %s = 1; else %s = 2;
  int n = 0;
  if (*chosen == 1) n++;
  if (*chosen + b[1] == 7) n++;
  return n;
}
"""


@pytest.mark.parametrize(("place", "apart"), [("out[3]", False), ("*chosen", True)])
def test_an_element_behind_a_pointer_is_one_of_many(tmp_path: Path, place: str, apart: bool) -> None:
    """What a read through a pointer in memory means is any byte of an array, but all of a variable."""
    found = explore(tmp_path, BEHIND_POINTERS % (place, place), "--merge", "qce", "--merging", "static")
    assert ("not similar" in found.merging["refused"]) is apart


TRIM = """
#include <klee/klee.h>
int main(void) {
  char s[M + 1];
  klee_make_symbolic(s, sizeof s, "s");
  s[M] = 0;
  int n = 0;
  while (s[n]) n++;
  while (n > 0 && s[n - 1] == ' ') n--;
  if (n == 3) klee_print_expr("short", n);
  return 0;
}
"""


def test_states_of_a_loop_run_in_the_order_of_its_counters(tmp_path: Path) -> None:
    """The second loop starts where the first one stopped. States that are at the same position wait for each
    other, whichever way they came there: merges grow with the size, not with its square."""
    merges = [
        explore(tmp_path, TRIM, "--merge", "qce", "--goal", "paths", f"-DM={size}").merges
        for size in (8, 16, 32)
    ]
    assert merges[2] < 6 * 32, merges

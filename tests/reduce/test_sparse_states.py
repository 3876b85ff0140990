"""States that have written different pages of one large object: merged, compared, and checked against plain
exploration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reduce.merging.harness import KINDS, Found, explore, flags

HEAD = """
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#define GIB (1ull << 30)
unsigned char __VERIFIER_nondet_uchar(void);
_Bool __VERIFIER_nondet_bool(void);
static char big[20000];
"""

# Each: what is done behind two conditions, and what is made of it.
PROGRAMS = {
    "different pages": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) p[5] = 1; else p[2 * GIB] = 2; }
      int main(void) { char *p = calloc(3, GIB); f(p); if (p[5]) return 1; return p[2 * GIB] ? 2 : 3; }
    """,
    "a page on one side": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) p[2 * GIB] = 2; }
      int main(void) { char *p = calloc(3, GIB); f(p); if (p[2 * GIB]) return 1; return 2; }
    """,
    "the same bytes as before": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) p[2 * GIB] = 0; }
      int main(void) { char *p = calloc(3, GIB); f(p); if (p[2 * GIB]) return 1; return 2; }
    """,
    "uninitialised on one side": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) p[2 * GIB] = 2; }
      int main(void) { char *p = malloc(3 * GIB); f(p); if (p[2 * GIB]) return 1; return 2; }
    """,
    "three ways": """
      static void f(char *p) {
        unsigned char c = __VERIFIER_nondet_uchar();
        if (c == 1) p[2 * GIB] = 1; else if (c == 2) p[2 * GIB] = 2; else if (c == 3) p[2 * GIB + 300] = 1;
      }
      int main(void) {
        char *p = calloc(3, GIB); p[0] = 1; f(p);
        if (p[2 * GIB] == 2) return 2; if (p[2 * GIB] == 1) return 1; return 3 + p[2 * GIB + 300];
      }
    """,
    "memset on one side": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) memset(p, 1, GIB); }
      int main(void) { char *p = calloc(3, GIB); p[5] = 1; f(p); if (p[5]) return 1 + p[7]; return 5; }
    """,
    "memset to what was there": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) memset(p, 0, GIB); }
      int main(void) { char *p = calloc(3, GIB); p[5] = 1; f(p); if (p[5]) return 1; return 5; }
    """,
    "memset to different bytes": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) memset(p, 1, GIB); else memset(p, 2, GIB); }
      int main(void) { char *p = calloc(3, GIB); f(p); if (p[9] == 1) return p[5]; return 5; }
    """,
    "memset of different parts": """
      static void f(char *p) {
        if (__VERIFIER_nondet_bool()) { memset(p, 1, GIB); p[5] = 0; } else memset(p + GIB, 1, GIB);
      }
      int main(void) { char *p = calloc(3, GIB); f(p); if (p[999]) return 1 + p[5]; return p[GIB] + 3; }
    """,
    "a new object": """
      static char *f(void) { char *p = calloc(1, 20000); if (__VERIFIER_nondet_bool()) p[300] = 1; return p; }
      int main(void) { char *p = f(); if (p[300]) return 1; return 2; }
    """,
    "a new huge object": """
      static char *f(void) { char *p = calloc(3, GIB); if (__VERIFIER_nondet_bool()) p[300] = 1; return p; }
      int main(void) { char *p = f(); if (p[300]) return 1; return 2; }
    """,
    "a global": """
      static void f(void) { if (__VERIFIER_nondet_bool()) big[7] = 1; else big[19999] = 1; }
      int main(void) { f(); if (big[7]) return 1; if (big[19999]) return 2; return 3; }
    """,
    "a local": """
      static void f(char *p) { if (__VERIFIER_nondet_bool()) p[7] = 1; else p[19999] = 1; }
      int main(void) {
        char local[20000]; local[7] = 0; f(local);
        if (local[7]) return 1; return local[19999];
      }
    """,
    "symbolic bytes": """
      static void f(char *p) {
        unsigned char c = __VERIFIER_nondet_uchar();
        if (__VERIFIER_nondet_bool()) p[GIB] = c; else p[2 * GIB] = c;
      }
      int main(void) {
        char *p = calloc(3, GIB); f(p);
        if (p[GIB] == 4) return 1; if (p[2 * GIB] == 4) return 2; return p[5];
      }
    """,
    "freed on one side": """
      int main(void) {
        char *p = calloc(3, GIB), *q = calloc(1, GIB); p[1] = q[1] = 1;
        if (__VERIFIER_nondet_bool()) free(p); else free(q);
        return __VERIFIER_nondet_bool() ? p[1] : 3;
      }
    """,
}


def told(found: Found) -> tuple[object, ...]:
    assert found.result.complete
    return found.errors(), found.lines()


@pytest.mark.parametrize("name", PROGRAMS)
def test_merging(tmp_path: Path, name: str) -> None:
    source = HEAD + PROGRAMS[name]
    plain = explore(tmp_path, source)
    for kind in KINDS:
        merged = explore(tmp_path, source, *flags(*kind), "--verify-reductions")
        assert told(merged) == told(plain)
        assert not merged.result.reductions["merging"]["wrong"]
        assert set(merged.ends()) == set(plain.ends())


def test_states_with_different_pages_are_merged(tmp_path: Path) -> None:
    merged = explore(tmp_path, HEAD + PROGRAMS["different pages"], *flags("all", "static", "dfs"))
    assert merged.merges


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("how", ["rules", "exact"])
def test_removing(tmp_path: Path, name: str, how: str) -> None:
    source = HEAD + PROGRAMS[name]
    plain = explore(tmp_path, source)
    removed = explore(tmp_path, source, "--zeq", how)
    assert told(removed) == told(plain)
    assert set(removed.ends()) == set(plain.ends())


def test_equal_states_are_still_removed(tmp_path: Path) -> None:
    found = explore(tmp_path, HEAD + PROGRAMS["the same bytes as before"], "--zeq", "rules")
    (row,) = [row for row in found.result.reductions["zequivalence"]["functions"] if row["function"] == "f"]
    assert (row["states"], row["kept"]) == (2, 1)

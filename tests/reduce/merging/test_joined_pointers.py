"""Accesses through pointers that were merged fail where, and as what, the single paths would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reduce.merging.harness import explore

HEAD = """
#include <stdlib.h>
#include "klee/klee.h"
static int table[4] = { 7, 1, 8, 2 }, pair[2], total, *p;
"""

# A pointer in memory that comes from several merges is a choice between bytes: null or an object, and tested.
TESTED = """
int main(void) {
  for (int i = 0; i < ROUNDS; i++) {
    unsigned char u;
    klee_make_symbolic(&u, 1, "u");
    if (u == 0) { if (p) total += *p; }
    else if (u == 1) p = table;MORE
  }
  return 0;
}
"""
SEVERAL_KINDS = """
int main(void) {
  unsigned char a, i;
  klee_make_symbolic(&a, 1, "a");
  klee_make_symbolic(&i, 1, "i");
  int *q = malloc(16), *r = q;
  free(q);
  if (a > 9) r = table; else if (a > 7) r = pair; else if (a < 3) r = 0;
  if (a == 200) table[0] = 4;
  return INDEXED;
}
"""
OUT_OF_SCOPE = """
static int *gone(int k) { int local[3] = { k, k, k }; int *volatile out = local; return out; }
int main(void) {
  unsigned char a, i;
  klee_make_symbolic(&a, 1, "a");
  klee_make_symbolic(&i, 1, "i");
  int *r = table;
  if (a < 3) r = gone(a);
  total = a == 200;
  return r[i & 1];
}
"""
CASES: dict[str, tuple[str, set[tuple[str, str]]]] = {
    "tested": (TESTED.replace("ROUNDS", "3").replace("MORE", ""), set()),
    "tested, two objects": (
        TESTED.replace("ROUNDS", "3").replace("MORE", " else if (u == 2) p = pair;"),
        set(),
    ),
    "kinds, first element": (
        SEVERAL_KINDS.replace("INDEXED", "*r"),
        {("null-pointer", "return"), ("use-after-free", "return")},
    ),
    "kinds, any element": (
        SEVERAL_KINDS.replace("INDEXED", "r[i]"),
        {("null-pointer", "return"), ("use-after-free", "return"), ("out-of-bounds", "return")},
    ),
    "kinds, elements before it": (
        SEVERAL_KINDS.replace("INDEXED", "r[i - 200]"),
        {("null-pointer", "return"), ("use-after-free", "return"), ("out-of-bounds", "return")},
    ),
    "kinds, written": (
        SEVERAL_KINDS.replace("INDEXED", "(r[i & 3] = 5)"),
        {("null-pointer", "return"), ("use-after-free", "return"), ("out-of-bounds", "return")},
    ),
    "local of a call that is over": (OUT_OF_SCOPE, {("use-after-scope", "return r[i & 1]")}),
}
MERGING = (
    (), ("--merge", "all"), ("--merge", "qce"), ("--merge", "all", "--merging", "dynamic"),
)  # fmt: skip


def places(source: str, errors: set[tuple[str, int]]) -> set[tuple[str, str]]:
    """Kinds and statements in the place of kinds and lines."""
    lines = source.splitlines()
    return {(kind, lines[line - 1].strip()) for kind, line in errors}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("externals", [(), ("--externals", "fresh")], ids=["", "fresh"])
def test_errors_are_those_of_the_single_paths(tmp_path: Path, name: str, externals: tuple[str, ...]) -> None:
    source, expected = CASES[name]
    source = HEAD + source
    merges = 0
    for how in MERGING:
        found = explore(tmp_path, source, *externals, *how)
        assert found.result.complete
        told = places(source, found.errors())
        assert {kind for kind, _ in told} == {kind for kind, _ in expected}, how
        assert all(any(text.startswith(start) for _, start in expected) for _, text in told), how
        merges += found.merges
    assert merges > 0


def test_a_tested_pointer_in_many_rounds(tmp_path: Path) -> None:
    """There are more than 3^16 paths."""
    source = HEAD + TESTED.replace("ROUNDS", "16").replace("MORE", "")
    found = explore(tmp_path, source, "--externals", "fresh", "--merge", "all", "--tests", "errors")
    assert found.result.complete
    assert found.errors() == set()

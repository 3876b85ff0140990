"""States that allocated different sizes at one place: merged where few accesses depend on the size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reduce.merging.harness import explore

SIZES = """
#include <klee/klee.h>
#include <stdlib.h>
__attribute__((noinline)) static char *make(size_t n) { return calloc(n, 1); }
int main(void) {
  unsigned char big, at[6];
  klee_make_symbolic(&big, 1, "big");
  klee_make_symbolic(at, 6, "at");
  char *p;
  if (big > 100) p = make(4); else p = make(8);
  int sum = 0;
  for (int i = 0; i < 6; i++) BODY;
  return sum + p[0];
}
"""
BODIES = {
    "every later query depends on the size": ("sum += p[at[i] & 7]", False),
    "one of many depends on the size": ("if (at[i] > i) sum++", True),
}


@pytest.mark.parametrize("name", BODIES)
def test_states_of_different_sizes(tmp_path: Path, name: str) -> None:
    body, merged = BODIES[name]
    source = SIZES.replace("BODY", body)
    plain = explore(tmp_path, source)
    found = explore(tmp_path, source, "--merge", "qce", "--loops", "off")
    assert found.result.complete
    assert found.errors() == plain.errors()
    assert found.merging["refused"].get("not similar", 0) == (0 if merged else 1)
    assert (found.merges > 0) is merged

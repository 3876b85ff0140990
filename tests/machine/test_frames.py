"""Frames in great numbers: numbers of locals come round again, deep calls, frames left by jumps."""

from __future__ import annotations

from pathlib import Path

from tests.machine.harness import run_source


def test_numbers_of_locals_come_round_again(tmp_path: Path) -> None:
    source = """
#include <assert.h>
#include <setjmp.h>
static jmp_buf back;
static void jumps(int n) { volatile int local[4]; local[0] = n; longjmp(back, 1); }
static int depth(int n, int *outer) {
  int mine = n;
  return n == 0 ? *outer : depth(n - 1, &mine) + *outer;
}
int main(void) {
  volatile int i = 0, last = 0;
  setjmp(back);
  if (++i < 33000) jumps(i);
  for (int k = 0; k < 33000; k++) last = depth(1, &k);
  assert(last == 33000);
  return 0;
}
"""
    outcome = run_source(tmp_path, source)
    assert outcome.result.complete
    assert outcome.result.paths_exit == 1


def test_a_local_left_by_a_jump_is_out_of_scope(tmp_path: Path) -> None:
    source = """
#include <setjmp.h>
static jmp_buf back;
static int *kept;
static void jumps(void) { int local = 5; kept = &local; longjmp(back, 1); }
int main(void) {
  int mine = 1;
  int *volatile own = &mine;
  if (!setjmp(back)) jumps();
  return *own + *kept;
}
"""
    outcome = run_source(tmp_path, source)
    assert outcome.errors() == [("use-after-scope", 10)]


def test_stack_limit_counts_frames(tmp_path: Path) -> None:
    source = """int down(int n) { return n ? 1 + down(n - 1) : 0; }
int main(void) { return down(DEPTH) != DEPTH; }
"""
    fits = run_source(tmp_path, source, "-DDEPTH=900", "--max-stack-frames", "1000")
    assert fits.result.paths_exit == 1
    too_deep = run_source(tmp_path, source, "-DDEPTH=2000", "--max-stack-frames", "1000")
    assert too_deep.errors() == [("stack-overflow", 1)]

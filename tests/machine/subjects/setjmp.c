// setjmp and longjmp within the live frames: loops, nesting, through calls, symbolic values.
// EXPECT paths: exit 6 error 0
// EXPECT exit codes: 0 1 4 42
#include <klee/klee.h>
#include <assert.h>
#include <setjmp.h>

static jmp_buf outer, inner;

static void thrower(int depth, int value) {
  int local[4] = {depth};
  if (depth == 0) longjmp(outer, value);
  thrower(depth - 1, value);
  assert(local[0] == -1);
}

static int loop(void) {
  volatile int count = 0;
  int got = setjmp(outer);
  if (got < 5) {
    count++;
    thrower(3, got + 1);
  }
  return count * 10 + got;
}

static int nested(void) {
  volatile int trace = 0;
  if (setjmp(outer) == 0) {
    if (setjmp(inner) == 0) longjmp(inner, 7);
    trace = 1;
    longjmp(outer, 1);
  }
  return trace;
}

static int again(volatile int *n) {
  int r = setjmp(inner);
  if (++*n < 4) longjmp(inner, *n);
  return r;
}

int main(void) {
  volatile int n = 0;
  assert(loop() == 55 && nested() == 1 && again(&n) == 3);
  assert(setjmp(outer) == 0 || 1);
  int x = klee_int("x");
  switch (klee_range(0, 3, "which")) {
  case 0: {
    int r = setjmp(outer);
    if (r == 0) thrower(2, 0);
    assert(r == 1);
    return r;
  }
  case 1: {
    int r = setjmp(outer);
    if (r == 0) {
      if (x == 42) thrower(1, x);
      return 0;
    }
    return r;
  }
  default: {
    volatile int kept = 1;
    int r = setjmp(outer);
    if (r == 0) { kept = 3; thrower(4, x); }
    assert(x == 0 ? r == 1 : r == x);
    if (x == 7) return kept + 1;
    return 0;
  }
  }
}

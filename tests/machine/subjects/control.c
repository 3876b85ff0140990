// Phi cycles, nested loops, goto, computed goto, recursion, exit from deep inside, handlers of atexit.
// EXPECT paths: exit 10 error 0
// EXPECT exit codes: 0 3 7 9
// EXPECT output: "swap\n"
// EXPECT output: "AB\n"
// EXPECT output: "deep 500500\n"
// EXPECT output: "goto 3\n"
// EXPECT output: "second first \n"
// EXPECT output: "quick\n"
// EXPECT output: "label 2\n"
// EXPECT output: "label 5\n"
// EXPECT output: ""
#include <klee/klee.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static void swap_cycle(int n) {
  int a = 1, b = 2, c = 3;
  for (int i = 0; i < n; i++) {
    int t = a;
    a = b;
    b = c;
    c = t;
  }
  assert(n % 3 == 0 ? a == 1 && b == 2 && c == 3 : n % 3 == 1 ? a == 2 && c == 1 : a == 3 && b == 1);
}

static int is_odd(int n);
static int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
static int sum_to(int n) { return n == 0 ? 0 : n + sum_to(n - 1); }

static int labels(int from) {
  static void *const table[] = {&&zero, &&one, &&two};
  int n = 0;
  goto *table[from];
zero:
  n += 1;
one:
  n += 2;
  if (n < 5) goto *table[2];
two:
  n += 2;
  return n;
}

static int choose(unsigned from) {
  static void *const table[] = {&&one, &&two, &&one};
  goto *table[from];
one:
  return 1;
two:
  return 2;
}

static void leave(int depth) {
  if (depth == 0) exit(7);
  leave(depth - 1);
  abort();
}

static void first(void) { printf("first \n"); }
static void second(void) { printf("second "); exit(9); }

int main(void) {
  switch (klee_range(0, 9, "which")) {
  case 0:
    for (int n = 0; n < 10; n++) swap_cycle(n);
    printf("swap\n");
    return 0;
  case 1:
    assert(is_even(10) && is_odd(7) && !is_even(3));
    printf("AB\n");
    leave(20);
    return 1;
  case 2:
    printf("deep %d\n", sum_to(1000));
    return 0;
  case 3: {
    int i = 0, n = 0;
  again:
    for (int j = 0; j < 3; j++) {
      if (j == 2) { if (++i < 3) goto again; else break; }
      if (i == 1) continue;
      n++;
    }
    assert(n == 4);
    printf("goto %d\n", i);
    return 0;
  }
  case 4:
    atexit(first);
    atexit(second);
    return 3;
  case 5:
    atexit(second);
    printf("quick\n");
    _Exit(3);
  case 6:
    printf("label %d\n", labels(2));
    return 0;
  case 7:
    printf("label %d\n", labels(0));
    return 0;
  default: {
    unsigned i = (unsigned)klee_range(0, 3, "i");
    assert(choose(i) == (i == 1 ? 2 : 1));
    return 0;
  }
  }
}

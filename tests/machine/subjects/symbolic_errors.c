// Errors for some inputs only: the error has a test that shows it, and the path goes on without.
// EXPECT paths: exit 15 error 12
#include <klee/klee.h>
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "abcdef";
static int numbers[10];

static int divide(int a, int b) { return a / b; } /* ERROR: division-by-zero NEAR: b=symbolic, here 0 ERROR: overflow */

static int sink;

int main(void) {
  int x = klee_int("x");
  unsigned char c;
  klee_make_symbolic(&c, sizeof c, "c");
  switch (klee_range(0, 11, "which")) {
  case 0: sink = divide(x, klee_int("y")); return 0;
  case 1: sink = 100 % (unsigned)x; return 0; /* ERROR: division-by-zero */
  case 2: sink = 1 << x; return 0; /* ERROR: overshift */
  case 3: sink = (int)(1ul >> c); return 0; /* ERROR: overshift */
  case 4: sink = letters[c]; assert(c < 7); return 0; /* ERROR: out-of-bounds NEAR: 'letters' of 7 bytes */
  case 5: numbers[x] = 1; assert(x >= 0 && x < 10); return 0; /* ERROR: out-of-bounds */
  case 6: assert(c != 77); return 0; /* ERROR: assert NEAR: c != 77 */
  case 7: { /* the pointer is null for one input */
    int *p = c == 3 ? 0 : numbers;
    sink = *p; /* ERROR: null-pointer */
    return 0;
  }
  case 8: if (c > 250) abort(); return 0; /* ERROR: abort */
  case 9: {
    char *p = malloc(c & 7);
    if (!p) return 0;
    p[3] = 1; /* ERROR: out-of-bounds */
    return 1;
  }
  default: {
    char small[4];
    memset(small, 0, c & 7); /* ERROR: out-of-bounds */
    return 2;
  }
  }
}

// Signed overflow where it is asked for; wrapping of unsigned and narrow types stays fine.
// OPTIONS: --check overflow
// EXPECT paths: exit 9 error 9
#include <klee/klee.h>
#include <assert.h>
#include <limits.h>

int main(void) {
  volatile int max = INT_MAX, min = INT_MIN;
  int x = klee_int("x"), sink;
  long w = x;
  switch (klee_range(0, 13, "which")) {
  case 0: return max + 1; /* ERROR: overflow NEAR: addition */
  case 1: return min - 1; /* ERROR: overflow NEAR: subtraction */
  case 2: return max * 2; /* ERROR: overflow NEAR: multiplication */
  case 3: return -min; /* ERROR: overflow */
  case 4: sink = x + 1; assert(sink > x); return 0; /* ERROR: overflow */
  case 5: sink = x - 10; assert(sink < x); return 0; /* ERROR: overflow */
  case 6: klee_assume((x > 46000) & (x < 46500)); sink = x * x; return sink > 1000 ? 0 : 1; /* ERROR: overflow */
  case 7: sink = -x; assert(sink == 0 || (sink < 0) != (x < 0)); return 0; /* ERROR: overflow */
  case 8: max++; return 0; /* ERROR: overflow */
  case 9: sink = (int)((unsigned)x + 1u); return 0;
  case 10: { short s = (short)x; s++; return 0; }
  case 11: assert(w + 1 > w); return 0;
  default: assert((unsigned char)(255 + (unsigned char)x) != (unsigned char)x); return 0;
  }
}

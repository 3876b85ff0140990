// Shifts and divisions at their edges, where no error is due.
// EXPECT paths: exit 9 error 0
#include <klee/klee.h>
#include <assert.h>
#include <limits.h>

int main(void) {
  volatile int zero = 0;
  assert((1u << (31 + zero)) == 0x80000000u && (INT_MIN >> (31 + zero)) == -1);
  assert((1ull << (63 + zero)) >> 63 == 1 && ((long long)INT_MIN << (32 - zero)) == LLONG_MIN);
  assert(((unsigned char)255 << (8 + zero)) == 0xff00);
  assert(INT_MIN / (1 + zero) == INT_MIN && (INT_MIN + 1) / (zero - 1) == INT_MAX);
  assert((INT_MIN + 1) % (zero - 1) == 0 && (unsigned)INT_MIN / (unsigned)-1 == 0);
  assert((short)-32768 / (short)(zero - 1) == 32768);
  int x = klee_int("x");
  unsigned s = (unsigned)klee_range(0, 32, "s");
  switch (klee_range(0, 6, "which")) {
  case 0: assert((1u << s) >> s == 1); return 0;
  case 1: assert((x >> s) < 0 ? x < 0 : x >= 0); return 0;
  case 2: klee_assume(x > 0); assert(1000 / x <= 1000); assert(1000 % x < 1000 || x > 1000); return 0;
  case 3: klee_assume((x != 0) & (x != -1)); assert(INT_MIN / x != INT_MIN || x == 1); return 0;
  case 4: assert((x << 4 & 15) == 0); assert(((unsigned)x >> 28) < 16); return 0;
  default: assert((unsigned long long)(unsigned)x << 32 >> 32 == (unsigned)x); return 0;
  }
}

// What the source does wrong is found where it is, also if its result is unused or it is known to fail.
// OPTIONS: --check overflow
// EXPECT paths: exit 10 error 19
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

struct pair { int a[2]; int b; };

static int unknown(const char *name) {
  int value;
  klee_make_symbolic(&value, sizeof value, name);
  return value;
}

int main(void) {
  unsigned char i = (unsigned char)unknown("i");
  int x = unknown("x");
  switch (unknown("which")) {
  case 0: { char a[4]; memset(a, 0, 8); break; } /* ERROR: out-of-bounds */
  case 1: { char a[4], b[8] = "abcdefg"; memcpy(a, b, 8); break; } /* ERROR: out-of-bounds */
  case 2: { int a[4] = {1, 2, 3, 4}; int v = a[i]; break; } /* ERROR: out-of-bounds */
  case 3: { int *p = 0; int v = *p; break; } /* ERROR: null-pointer */
  case 4: { int *p = malloc(4); free(p); int v = *p; break; } /* ERROR: use-after-free */
  case 5: { int y = 10 / x; break; } /* ERROR: division-by-zero */
  case 6: { int y = 1 << i; break; } /* ERROR: overshift */
  case 7: { int y = x + 1; break; } /* ERROR: overflow */
  case 8: { int a[4]; a[4] = 1; break; } /* ERROR: out-of-bounds */
  case 9: { struct pair p; p.a[3] = 1; break; } /* ERROR: out-of-bounds */
  case 10: { int a[4]; int z = a[5]; if (z) return 1; break; } /* ERROR: out-of-bounds */
  case 11: { int y = x; if (y >= 0 && y < 2) return 1 % y == 0; break; } /* ERROR: division-by-zero */
  case 12: { int *p; { int a[2] = {1, 2}; p = a; } return *p; } /* ERROR: use-after-scope NEAR: main */
  case 13: { for (int k = 0; k < 2; k++) { int v[1]; if (k == 0) v[0] = 1; if (v[0]) x = 2; } break; } /* ERROR: uninitialised */
  case 14: { for (int k = 0; k < 2; k++) { int v; if (k == 0) v = 1; if (v) x = 2; } break; } /* ERROR: uninitialised */
  case 15: { if (x) __builtin_unreachable(); break; } /* ERROR: unreachable */
  case 16: { int u, r = 3; if (u) r = 4; break; } /* ERROR: uninitialised */
  case 17: { int *q = 0; goto in; again: return *q; in: { int c[2] = {1, 1}; q = c; goto again; } } /* ERROR: use-after-scope */
  case 18: { if (x + 1 < x) { char a[1]; a[2] = 1; } break; } /* ERROR: overflow */
  }
  return 0;
}

// Two bytes that were never written need not be equal; a copy is equal to what it was copied from.
// EXPECT paths: exit 4 error 8
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

struct padded { char c; int i; };

static char *block(void) { return malloc(4); }

int main(void) {
  volatile int one = 1;
  switch (klee_range(0, 12, "which")) {
  case 0: { int x, y; if (x == y) return 1; return 0; } /* ERROR: uninitialised */
  case 1: { int x, y; if (x - y < 3) return 1; return 0; } /* ERROR: uninitialised */
  case 2: { char a[4]; a[0] = 0; if (a[one] != a[one + 1]) return 1; return 0; } /* ERROR: uninitialised */
  case 3: { char a[4], b[4]; a[0] = b[0] = 0; if (a[one] != b[one]) return 1; return 0; } /* ERROR: uninitialised */
  case 4: { char *p = block(), *q = block(); if (p[one] < q[one]) return 1; return 0; } /* ERROR: uninitialised */
  case 5: { int a[200]; a[0] = 1; if (a[one] == a[64 + one]) return 1; return 0; } /* ERROR: uninitialised */
  case 6: { struct padded p, q; p.c = q.c = 1; p.i = q.i = 2; return !!memcmp(&p, &q, sizeof p); } /* ERROR: uninitialised */
  case 7: { char *p = malloc(40000); if (p[one] == p[20000]) return 1; return 0; } /* ERROR: uninitialised */
  case 8: { struct padded p, q; p.c = 1; p.i = 2; memcpy(&q, &p, sizeof q); return !!memcmp(&p, &q, sizeof p); }
  case 9: { int x, y = x; return x != y; }
  case 10: { char a[8], b[8]; memcpy(b, a, 8); return a[one] != b[one]; }
  default: return 0;
  }
}

// Uninitialised data is an error where it decides a branch or an address, where it is printed as a number or a
// character, and as an exit status; nowhere else.
// EXPECT paths: exit 8 error 12
#include <klee/klee.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bits { unsigned a : 3, b : 7, c : 22; };
struct padded { char c; int i; };

static int maybe(int set) {
  int x;
  if (set) x = 1;
  if (x == 1) return 1; /* ERROR: uninitialised */
  return 0;
}

static int part(int n) {
  int a[4];
  a[n] = 7;
  return a[n] == 7 ? 1 : 0;
}

static int table[16];

int main(void) {
  volatile int one = 1;
  switch (klee_range(0, 20, "which")) {
  case 0: { int x; if (x > 3) return 1; return 0; } /* ERROR: uninitialised */
  case 1: { int a[8]; a[0] = 0; if (a[one]) return 1; return 0; } /* ERROR: uninitialised */
  case 2: { int *p = malloc(8); if (p[one] == 5) return 1; return 0; } /* ERROR: uninitialised */
  case 3: { int a[8]; a[0] = 0; return table[a[one] & 15]; } /* ERROR: uninitialised NEAR: address */
  case 4: return maybe(0);
  case 5: return maybe(1);
  case 6: { struct bits b; b.a = 5; b.c = 100; assert(b.a == 5 && b.c == 100); return 0; }
  case 7: { struct bits b; b.a = 5; if (b.b == 1) return 1; return 0; } /* ERROR: uninitialised */
  case 8: { struct padded p; p.c = 1; p.i = 2; struct padded q = p; assert(q.c == 1 && q.i == 2); return 0; }
  case 9: { int x, y; y = x; memcpy(&x, &y, sizeof x); return 0; }
  case 10: return part(one) - 1;
  case 11: { char *p = malloc(4); p[0] = 0; return (int)strlen(p); }
  case 12: { char b[4]; b[0] = 'x'; return (int)strlen(b); } /* ERROR: uninitialised */
  case 13: { int x; printf("%d", x); return 0; } /* ERROR: uninitialised NEAR: number to print */
  case 14: { char b[2]; putchar(b[one]); return 0; } /* ERROR: uninitialised NEAR: character to print */
  case 15: { double d; printf("%f", d); return 0; } /* ERROR: uninitialised NEAR: number to print */
  case 16: { int x; exit(x); } /* ERROR: uninitialised NEAR: exit status */
  case 17: { struct padded p; p.c = 1; p.i = 2; fwrite(&p, sizeof p, 1, stdout); return 0; }
  case 18: { int x; return x; }
  default: { int x; int y = (x & 0) + 1; if (y == 1) return 0; return 1; }
  }
} /* ERROR: uninitialised NEAR: exit status */

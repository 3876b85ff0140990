// Unions, bit-fields and packed structs, known and symbolic, initialised piece by piece.
// EXPECT paths: exit 5 error 0
#include <klee/klee.h>
#include <assert.h>
#include <string.h>

union any { char c[8]; short s[4]; int i[2]; long l; double d; };
struct fields { signed a : 4; unsigned b : 9; long c : 40; _Bool d : 1; };
struct __attribute__((packed)) tight { char c; int i; short s; long l; };

int main(void) {
  union any u;
  u.l = 0x1122334455667788;
  assert(u.c[0] == (char)0x88 && u.s[1] == 0x5566 && u.i[1] == 0x11223344);
  u.d = 1.0;
  assert(u.i[1] == 0x3ff00000 && u.i[0] == 0);
  struct fields f;
  f.a = -3;
  f.b = 511;
  f.c = -5;
  f.d = 1;
  assert(f.a == -3 && f.b == 511 && f.c == -5 && f.d);
  f.b++;
  assert(f.b == 0 && f.a == -3 && f.c == -5);
  struct tight t;
  t.c = 1; t.i = 0x01020304; t.s = -2; t.l = 1l << 40;
  assert(sizeof t == 15 && t.i == 0x01020304 && t.s == -2 && t.l == 1l << 40);
  assert(*(int *)((char *)&t + 1) == 0x01020304);

  int x = klee_int("x");
  switch (klee_range(0, 3, "which")) {
  case 0:
    u.i[0] = x;
    u.c[1] = 0;
    assert((u.i[0] & 0xff00) == 0 && (u.i[0] & 0xff) == (x & 0xff) && (u.i[0] & 0xff000000) == (x & 0xff000000));
    return 0;
  case 1: {
    struct fields g;
    g.a = x;
    g.b = (unsigned)x;
    assert(g.a >= -8 && g.a < 8 && g.b < 512 && g.b == ((unsigned)x & 511));
    if (g.a == -1) assert((x & 15) == 15);
    return 0;
  }
  default: {
    struct tight s;
    memset(&s, 0, sizeof s);
    s.i = x;
    assert(*((unsigned char *)&s + 1) == (x & 0xff) && s.c == 0);
    s.l = x;
    assert(s.i == x && s.l == x);
    if (((char *)&s)[4] < 0) assert(x < 0);
    else assert(x >= 0);
    return x < 0 ? 1 : 0;
  }
  }
}

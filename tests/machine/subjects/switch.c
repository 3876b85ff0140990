// Switches: few cases, many, ranges, several to one target; on char, int, long long; known and symbolic.
// EXPECT paths: exit 26 error 0
#include <klee/klee.h>
#include <assert.h>

static int few(int x) {
  switch (x) {
  case 1: return 10;
  case 2: return 20;
  default: return 0;
  }
}

static int many(int x) {
  switch (x) {
  case -5: return 1;
  case 0: return 2;
  case 3: return 3;
  case 7: case 8: case 9: return 4;
  case 100: return 5;
  case 2147483647: return 6;
  case -2147483647 - 1: return 7;
  default: return 8;
  }
}

static int range(unsigned char c) {
  switch (c) {
  case '0' ... '9': return 1;
  case 'a' ... 'f': case 'A' ... 'F': return 2;
  case 0: return 3;
  }
  return 4;
}

static int wide(long long x) {
  switch (x) {
  case 0x100000000ll: return 1;
  case 0: return 2;
  case -1: return 3;
  case 0x7fffffffffffffffll: return 4;
  }
  return 5;
}

static int falls(signed char c) {
  int n = 0;
  switch (c) {
  case -128: n += 1; /* fall through */
  case 127: n += 10; break;
  case 5: n += 100;
  }
  return n;
}

static int only_default(int x) {
  switch (x) { default: return x; }
}

int main(void) {
  assert(few(1) == 10 && few(2) == 20 && few(3) == 0 && few(-1) == 0);
  assert(many(-5) == 1 && many(8) == 4 && many(2147483647) == 6 && many(-2147483647 - 1) == 7 && many(4) == 8);
  assert(range('7') == 1 && range('B') == 2 && range(0) == 3 && range(255) == 4);
  assert(wide(0x100000000ll) == 1 && wide(-1) == 3 && wide(1) == 5);
  assert(falls(-128) == 11 && falls(127) == 10 && falls(5) == 100 && falls(6) == 0);
  assert(only_default(7) == 7);
  int x = klee_int("x");
  switch (klee_range(0, 6, "which")) {
  case 0: {
    int r = few(x);
    assert(r == 10 ? x == 1 : r == 20 ? x == 2 : (x != 1 && x != 2));
    return 0;
  }
  case 1: {
    int r = many(x);
    if (r == 4) assert(x >= 7 && x <= 9);
    if (r == 8) assert(x != 0 && x != -5 && x != 100);
    return 1;
  }
  case 2: {
    unsigned char c;
    klee_make_symbolic(&c, sizeof c, "c");
    int r = range(c);
    if (r == 1) assert(c >= '0' && c <= '9');
    if (r == 2) assert((c | 32) >= 'a' && (c | 32) <= 'f');
    return 2;
  }
  case 3: {
    long long w;
    klee_make_symbolic(&w, sizeof w, "w");
    int r = wide(w);
    if (r == 1) assert(w == 1ll << 32);
    if (r == 3) assert(w < 0);
    return 3;
  }
  case 4: {
    signed char c;
    klee_make_symbolic(&c, sizeof c, "c");
    int r = falls(c);
    assert(r == 0 || r == 10 || r == 11 || r == 100);
    return 4;
  }
  default:
    assert(only_default(x) == x);
    return 5;
  }
}

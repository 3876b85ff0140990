// Integers of many widths, known and symbolic, up to 128 bits and odd ones.
// EXPECT paths: exit 11 error 0
#include <klee/klee.h>
#include <assert.h>

typedef unsigned _BitInt(3) u3;
typedef unsigned _BitInt(7) u7;
typedef _BitInt(7) s7;
typedef unsigned _BitInt(33) u33;
typedef _BitInt(33) s33;
typedef unsigned _BitInt(65) u65;
typedef _BitInt(100) s100;
typedef unsigned _BitInt(127) u127;
typedef unsigned __int128 u128;
typedef __int128 s128;

#define KNOWN(T, A, B)                     \
  do {                                     \
    T a = (T)(A), b = (T)(B);              \
    assert((T)((T)(a + b) - b) == a);      \
    assert((T)(a / b * b + a % b) == a);   \
    assert((T)(a ^ b ^ b) == a);           \
    assert((T)~(T)~a == a);                \
    assert((a & b) <= a || a < 0 || b < 0);\
  } while (0)

static struct { u3 a; u7 b; u33 c; u65 d; u127 e; s100 f; _Bool g; } kept;

static void known(void) {
  KNOWN(unsigned char, 200, 7);
  KNOWN(signed char, -100, 7);
  KNOWN(short, -30000, 123);
  KNOWN(unsigned, 4000000000u, 77);
  KNOWN(int, -2000000000, -3);
  KNOWN(long, -9000000000000000000l, 12345);
  KNOWN(u3, 6, 3);
  KNOWN(u7, 100, 9);
  KNOWN(s7, -60, 5);
  KNOWN(u33, 0x1ffffffff, 0x12345);
  KNOWN(s33, -0x80000000ll, 77);
  KNOWN(u65, ((u128)1 << 64) + 5, 3);
  KNOWN(s100, -((s128)1 << 98), 1000003);
  KNOWN(u127, ((u128)1 << 126) + 9, ((u128)1 << 64) + 3);
  KNOWN(u128, ~(u128)0, ((u128)1 << 100) + 1);
  KNOWN(s128, -((s128)1 << 120), 0x123456789abcdefll);

  u3 three = 7;
  three += 1;
  assert(three == 0);
  s7 seven = 63;
  seven = (s7)((u7)seven + (u7)1);
  assert(seven == -64);
  assert((u33)(u65)-1 == 0x1ffffffff);
  assert((s100)(s7)-64 == -64);
  assert((u65)(s33)-1 >> 64 == 1);
  kept.a = 5; kept.b = 99; kept.c = 0x1abcdef01; kept.d = ((u128)1 << 64) | 77; kept.e = (u127)-1;
  kept.f = -5; kept.g = 3;
  assert(kept.a == 5 && kept.b == 99 && kept.c == 0x1abcdef01 && kept.d == (((u128)1 << 64) | 77));
  assert(kept.e == (u127)-1 && kept.f == -5 && kept.g == 1);
  assert((s128)-7 / 2 == -3 && (s128)-7 % 2 == -1 && -7 / -2 == 3 && 7 % -2 == 1 && (signed char)-128 / 2 == -64);
  assert((u128)-1 / 10 == ((u128)0x1999999999999999ull << 64 | 0x9999999999999999ull));
  assert((int)0x80000000 >> 31 == -1 && 0x80000000u >> 31 == 1 && (s128)1 << 127 >> 127 == -1);
  assert((signed char)200 == -56 && (unsigned char)-1 == 255 && (short)0x18000 == -0x8000);
  assert((_Bool)256 == 1 && (_Bool)0.5 == 1 && !(_Bool)0);
}

int main(void) {
  known();
  switch (klee_range(0, 9, "which")) {
  case 0: {
    unsigned char x, y;
    klee_make_symbolic(&x, 1, "x");
    klee_make_symbolic(&y, 1, "y");
    klee_assume(y != 0);
    assert(x % y < y && x / y <= x);
    assert((signed char)x / 2 <= 63);
    return 0;
  }
  case 1: {
    u7 x;
    klee_make_symbolic(&x, sizeof x, "x");
    assert((u7)(x + 1) != x);
    assert((u7)(x + x) == (u7)(2 * x));
    assert((s7)x >= -64 && (s7)x <= 63);
    return 0;
  }
  case 2: {
    u33 x;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_assume(x > 0x100000000);
    assert((s33)x < 0);
    assert((x >> 32) == 1);
    assert((s33)x >> 32 == -1);
    return 0;
  }
  case 3: {
    u128 x;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_assume(x == ((u128)0x1111 << 64 | 0x2222));
    assert((unsigned long)(x >> 64) == 0x1111 && (unsigned long)x == 0x2222);
    return 0;
  }
  case 4: {
    s128 x;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_assume((x < -5) & (x > -9));
    klee_assume((x & 1) == 0);
    assert(x == -6 || (klee_assume(x != -6), x == -8));
    return 0;
  }
  case 5: {
    u65 x;
    klee_make_symbolic(&x, sizeof x, "x");
    u65 y = x << 64;
    assert(y == 0 ? !(x & 1) : (x & 1));
    return 0;
  }
  case 6: {
    short x;
    klee_make_symbolic(&x, sizeof x, "x");
    assert((int)x * 3 - x == (int)x + x);
    assert((unsigned short)x == (x & 0xffff));
    return 0;
  }
  default: {
    _Bool b;
    klee_make_symbolic(&b, sizeof b, "b");
    klee_assume(*(unsigned char *)&b <= 1);
    int n = 40 + b;
    assert(n == 40 || b);
    return 0;
  }
  }
}

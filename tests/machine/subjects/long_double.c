// Long double is the 80-bit type of x87: arithmetic, layout, variable arguments; known and symbolic.
// EXPECT paths: exit 12 error 0
#include <klee/klee.h>
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if LDBL_MANT_DIG != 64 || LDBL_MAX_EXP != 16384 || LDBL_MIN_EXP != -16381 || LDBL_DIG != 18 || DECIMAL_DIG != 21
#error "not the long double of x86-64"
#endif

struct mixed { char c; long double x; short s; };
static struct mixed global = {'a', 1.5L, 7};
static long double table[2] = {0.1L, -3e4000L};

static long double sum(int count, ...) {
  va_list list;
  long double total = 0;
  va_start(list, count);
  for (int i = 0; i < count; i++) {
    total += va_arg(list, int);
    total += va_arg(list, long double);
    total += va_arg(list, double);
  }
  va_end(list);
  return total;
}

static long double named(long double a, double b, int count, ...) {
  va_list list;
  va_start(list, count);
  double first = va_arg(list, double);
  long double second = va_arg(list, long double);
  va_end(list);
  return a + b + first + second;
}

static const char *text(const char *format, ...) {
  static char buffer[100];
  va_list list;
  va_start(list, format);
  vsnprintf(buffer, sizeof buffer, format, list);
  va_end(list);
  return buffer;
}

static struct mixed twice(struct mixed m) { m.x *= 2; return m; }

static void known(volatile long double zero) {
  assert(sizeof(long double) == 16 && sizeof(struct mixed) == 48 && _Alignof(long double) == 16);
  assert(zero + 1 + LDBL_EPSILON != 1 && (double)(zero + 1 + LDBL_EPSILON) == 1 && zero + 1 + LDBL_EPSILON / 2 == 1);
  assert(zero + 0.1L != 0.1 && (double)(zero + 0.1L) == 0.1 && (float)(zero + 0.1L) == 0.1f);
  assert(table[1] < -1e300 * 1e300L && table[1] * -1e4000L == 1 / zero && (double)table[1] == -1 / (double)zero);
  assert(LDBL_MIN + zero > 0 && LDBL_MIN / 2 + zero > 0 && LDBL_TRUE_MIN / (2 + zero) == 0);
  assert((int64_t)(zero + 9223372036854775807.0L) == INT64_MAX && (uint64_t)(zero + 18446744073709551615.0L) == UINT64_MAX);
  assert((long double)UINT64_MAX + zero == 18446744073709551615.0L && (int)(zero - 3.99L) == -3);
  assert((__int128)(zero + 1e30L) / 1000000000000000 == 1000000000000000 - (zero > 0));
  assert(__builtin_sqrtl(zero + 2) * __builtin_sqrtl(zero + 2) != 2 && __builtin_fabsl(zero - 2) == 2);
  long double nan = zero / zero;
  assert(nan != nan && __builtin_isnan(nan) && !__builtin_isnan(zero) && __builtin_isinf(1 / zero) && !(nan < zero));
  uint64_t words[2] = {0, 0};
  long double third = 1 / (zero + 3);
  memcpy(words, &third, 10);
  assert(words[0] == 0xaaaaaaaaaaaaaaab && words[1] == 0x3ffd);
  words[0] = 0;  /* the integer bit is missing */
  memcpy(&third, words, 10);
  assert(third != third && third + 1 != third + 1);
  assert(sum(2, 1, 2.5L, 3.0, 4, 0.125L, 5.0) == 15.625L && named(1, 2, 2, 3.0, 4.0L) == 10);
  assert(floorl(zero - 2.5L) == -3 && ceill(zero + 2.1L) == 3 && truncl(zero - 2.7L) == -2 && rintl(zero + 2.5L) == 2);
  assert(roundl(zero + 2.5L) == 3 && fmodl(zero + 1e27L, 7) == 6 && fminl(zero, 1) == 0 && copysignl(3, -zero) == -3);
  assert(isnan(nan) && isinf(1 / zero) && isnormal(zero + 1) && !isnormal(LDBL_TRUE_MIN + zero) && signbit(-zero));
  assert(!strcmp(text("%d %.20Lf %g", 1, zero + 0.1L, 2.5), "1 0.10000000000000000000 2.5"));
  assert(!strcmp(text("%Lg %La %Le", table[1], zero + 0.1L, nan), "-3e+4000 0x1.999999999999999ap-4 -nan"));
  global = twice(global);
  assert(global.x == 3 && global.c == 'a' && global.s == 7);
}

int main(void) {
  known(0);
  long double x, y;
  double d;
  int i = klee_int("i");
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&y, sizeof y, "y");
  klee_make_symbolic(&d, sizeof d, "d");
  switch (klee_range(0, 5, "which")) {
  case 0:
    if (x + 1 == 3.5L) { assert(x == 2.5L); return 1; }
    return 0;
  case 1:
    if (x > 1 && x < 1.0000000000000000002L) { assert((double)x == 1 && x != 1); return 1; }
    return 0;
  case 2:
    if ((long double)d == x && d != d) assert(0);
    assert((double)(long double)d == d || d != d);
    return 0;
  case 3:
    assert((long double)i + 0.5L - i == 0.5L && (int)(long double)i == i);
    return 0;
  default:
    if (x != x) return 2;
    if (x == y) { assert(!(x < y) && x <= y && y >= x); return 1; }
    return 0;
  }
}

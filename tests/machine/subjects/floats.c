// Floating point: arithmetic, comparison, conversion, the builtins; known and symbolic.
// EXPECT paths: exit 15 error 0
#include <klee/klee.h>
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }

static void known(volatile double zero) {
  volatile float f = 0.1f;
  volatile double d = 0.1;
  assert(d + 0.2 != 0.3 && (float)(d + 0.2) == 0.3f && (double)f != d);
  assert(1.0 / (zero + 3.0) * 3.0 == 1.0 && bits(-zero) == 1ull << 63 && bits(1 / -zero) == 0xfff0000000000000);
  double nan = zero / zero;
  assert(nan != nan && !(nan < 1) && !(nan > 1) && !(nan == nan) && isnan(nan) && !isnan(d) && isinf(1 / zero));
  assert(__builtin_isless(1.0, 2.0 + zero) && __builtin_isunordered(nan, 1.0) && signbit(-1.0 + zero));
  assert((int)(3.99 + zero) == 3 && (int)(-3.99 + zero) == -3 && (unsigned)(4e9 + zero) == 4000000000u);
  assert((long)(1e18 + zero) == 1000000000000000000 && (unsigned char)(int)(300.7 + zero) == 44);
  assert((float)(16777217 + (int)zero) == 16777216.0f && (double)(~0ull - (int)zero) == 18446744073709551616.0);
  assert((double)(-5 + (int)zero) == -5.0 && (float)1e-50 == 0.0f && (float)(zero + 1e300) == INFINITY);
  assert(fabs(-2.5 + zero) == 2.5 && floor(-2.5 + zero) == -3 && ceil(2.1 + zero) == 3 && trunc(-2.7 + zero) == -2);
  assert(round(2.5 + zero) == 3 && rint(2.5 + zero) == 2 && sqrt(zero + 2.25) == 1.5 && fma(2, zero + 3, 4) == 10);
  assert(fmin(zero + 1, 2) == 1 && fmax(zero + 1, nan) == 1 && copysign(3, -zero) == -3 && fmod(7.5 + zero, 2) == 1.5);
  assert(__builtin_floorf(f) == 0.0f && f * f * f < 0.0011f && (float)d == f && -f < 0);
  float sum = 0;
  for (int i = 0; i < 10; i++) sum += f;
  assert(sum != 1.0f && sum > 0.99999f && sum < 1.00001f);
  assert((_Bool)(d - d) == 0 && !(zero + 0.0) && (zero + 0.5));
}

int main(void) {
  known(0.0);
  float f;
  double d;
  int x = klee_int("x");
  klee_make_symbolic(&f, sizeof f, "f");
  klee_make_symbolic(&d, sizeof d, "d");
  switch (klee_range(0, 8, "which")) {
  case 0: if (f > 1.0f && f < 1.0000002f) { assert(f == 1.00000012f); return 1; } return 0;
  case 1: if (d != d) { assert(!(d < 0) && !(d >= 0)); return 1; } assert(d == d); return 0;
  case 2: assert((double)x + 0.5 != (double)(int)((double)x + 0.5) || x != x); return 0;
  case 3: klee_assume((x >= -1000) & (x <= 1000)); assert((int)(float)x == x); return 0;
  case 4: klee_assume((f >= 0) & (f < 10)); assert((int)f >= 0 && (int)f < 10); return 0;
  case 5: if (fabs(d) == 2.0) { assert(d == 2.0 || d == -2.0); return 1; } return 0;
  case 6: klee_assume(f == 0.5f); assert(f + f == 1.0f && f * 4 == 2.0f && (double)f == 0.5); return 0;
  default: if ((float)d == 3.0f && d != 3.0) { assert(d > 2.9999 && d < 3.0001); return 1; } return 0;
  }
}

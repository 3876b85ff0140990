// The builtins that clang turns into intrinsics, known and symbolic.
// EXPECT paths: exit 9 error 0
#include <klee/klee.h>
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void known(volatile unsigned z) {
  int r;
  unsigned u;
  long l;
  assert(__builtin_popcount(0xf0f0 + z) == 8 && __builtin_popcountll(~0ull - z) == 64);
  assert(__builtin_clz(1 + z) == 31 && __builtin_ctz(8 + z) == 3 && __builtin_clzll(1ull + z) == 63);
  assert(__builtin_bswap32(0x11223344 + z) == 0x44332211 && __builtin_bswap16((unsigned short)(0x1122 + z)) == 0x2211);
  assert(__builtin_bswap64(0x1122334455667788 + z) == 0x8877665544332211);
  assert(__builtin_bitreverse8((unsigned char)(1 + z)) == 128 && __builtin_bitreverse32(1 + z) == 0x80000000);
  assert(__builtin_rotateleft32(0x80000001 + z, 4) == 0x18 && __builtin_rotateright8((unsigned char)(1 + z), 1) == 128);
  assert(__builtin_add_overflow(INT_MAX, 1 + (int)z, &r) && r == INT_MIN);
  assert(!__builtin_add_overflow(5, 6 + (int)z, &r) && r == 11);
  assert(__builtin_sub_overflow(0u, 1u + z, &u) && u == UINT_MAX);
  assert(__builtin_mul_overflow(1l << 62, 2l + z, &l) && !__builtin_mul_overflow(3l, 4l + z, &l) && l == 12);
  signed char narrow;
  assert(__builtin_add_overflow(100, 100 + (int)z, &narrow) && narrow == -56);
  assert(abs(-5 - (int)z) == 5 && labs(-5l - z) == 5 && __builtin_expect(z == 0, 1));
  assert(__builtin_elementwise_max(3, (int)z) == 3 && __builtin_elementwise_min(-3, (int)z) == -3);
  assert(__builtin_elementwise_add_sat(UINT_MAX - 5, z + 10) == UINT_MAX);
  assert(__builtin_elementwise_sub_sat(-2000000000, (int)z + 2000000000) == INT_MIN);
  char buffer[32];
  assert(__builtin_object_size(buffer, 0) == 32);
  memset(buffer, 'a', 16);
  memmove(buffer + 1, buffer, 15);
  memcpy(buffer + 16, buffer, 16);
  assert(buffer[31] == 'a' && !memcmp(buffer, buffer + 16, 16));
  for (int i = 0; i < 8; i++) buffer[i] = (char)i;
  memmove(buffer + 2, buffer, 6);
  assert(buffer[2] == 0 && buffer[7] == 5 && buffer[1] == 1);
  memmove(buffer, buffer + 2, 6);
  assert(buffer[0] == 0 && buffer[5] == 5);
  __builtin_assume(z == 0);
  __builtin_prefetch(buffer);
  assert(__builtin_ffs(8 + (int)z) == 4 && __builtin_parity(7 + z) == 1 && __builtin_constant_p(z) == 0);
  int *big = malloc(10 * sizeof(int));
  assert(__builtin_dynamic_object_size(big, 0) >= 40 && __builtin_object_size(big, 2) <= 40);
}

int main(void) {
  known(0);
  unsigned x = (unsigned)klee_int("x");
  int r;
  switch (klee_range(0, 8, "which")) {
  case 0: assert(__builtin_popcount(x) == __builtin_popcount(__builtin_bswap32(x))); return 0;
  case 1: klee_assume(x != 0); assert(__builtin_clz(x) + __builtin_ctz(x) < 32); return 0;
  case 2: assert(__builtin_bitreverse32(__builtin_bitreverse32(x)) == x); return 0;
  case 3: assert(__builtin_rotateleft32(x, 8) == (x << 8 | x >> 24)); return 0;
  case 4: klee_assume(x < 32); assert(__builtin_rotateright32(__builtin_rotateleft32(0x1234, x), x) == 0x1234); return 0;
  case 5: if (__builtin_add_overflow((int)x, 1, &r)) { assert(x == INT_MAX && r == INT_MIN); return 1; } return 0;
  case 6: klee_assume(x != 0x80000000); assert(abs((int)x) >= 0); return 0;
  default: assert(__builtin_elementwise_add_sat(x, 5u) >= 5); return 0;
  }
}

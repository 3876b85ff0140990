// Vectors, lane by lane, known and symbolic.
// EXPECT paths: exit 5 error 0
#include <klee/klee.h>
#include <assert.h>
#include <string.h>

typedef int v4i __attribute__((vector_size(16)));
typedef unsigned char v16c __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef double v2d __attribute__((vector_size(16)));
typedef long v2l __attribute__((vector_size(16)));
typedef short v4s __attribute__((vector_size(8)));

static v4i constant = {1, -2, 3, -4};

static v4i add(v4i a, v4i b) { return a + b; }

int main(void) {
  v4i a = constant, b = {10, 20, 30, 40};
  v4i c = add(a, b) * 2 - a;
  assert(c[0] == 21 && c[1] == 38 && c[2] == 63 && c[3] == 76);
  v4i m = a < 0;
  assert(m[0] == 0 && m[1] == -1 && m[2] == 0 && m[3] == -1);
  v4i d = b / (a * a), r = b % 7, sh = b << 1 >> 2;
  assert(d[1] == 5 && r[3] == 5 && sh[2] == 15);
  v4i sh2 = __builtin_shufflevector(a, b, 3, 0, 4, 7);
  assert(sh2[0] == -4 && sh2[1] == 1 && sh2[2] == 10 && sh2[3] == 40);
  v4f f = {1.5f, -2.0f, 0.25f, 8.0f};
  v4f g = f * f + 1.0f;
  assert(g[0] == 3.25f && g[1] == 5.0f && g[3] == 65.0f);
  v4f n = -f;
  assert(n[0] == -1.5f && (f > 0.3f)[0] == -1 && (f > 0.3f)[2] == 0);
  v2d w = {0.5, 3.0};
  v2l bits = (v2l)w;
  assert(bits[0] == 0x3fe0000000000000 && ((v2d)bits)[1] == 3.0);
  v4i conv = __builtin_convertvector(f, v4i);
  assert(conv[0] == 1 && conv[1] == -2 && conv[2] == 0 && conv[3] == 8);
  v4s narrow = __builtin_convertvector(a, v4s);
  v4i wide = __builtin_convertvector(narrow, v4i);
  assert(wide[1] == -2 && wide[2] == 3);
  v16c bytes;
  memset(&bytes, 7, sizeof bytes);
  bytes[3] = 200;
  bytes += 100;
  assert(bytes[0] == 107 && bytes[3] == 44);
  assert(__builtin_reduce_add(b) == 100 && __builtin_reduce_max(a) == 3 && __builtin_reduce_xor(bytes) == (107 ^ 44));
  v4i store[2];
  store[1] = b;
  memcpy(&store[0], &store[1], 16);
  assert(((int *)store)[2] == 30);
  v4i e = __builtin_elementwise_abs(a), lo = __builtin_elementwise_min(a, b);
  assert(e[3] == 4 && lo[3] == -4);

  int x = klee_int("x");
  unsigned lane = (unsigned)klee_range(0, 4, "lane");
  switch (klee_range(0, 3, "which")) {
  case 0: {
    v4i v = {x, x + 1, 0, x};
    v4i p = v * 3;
    assert(p[0] == (int)((unsigned)x * 3) && p[2] == 0);
    return 0;
  }
  case 1: assert(b[lane] == (int)lane * 10 + 10); return 0;
  default: {
    v4i v = b;
    v[lane] = x;
    assert(v[0] == (lane == 0 ? x : 10) && v[3] == (lane == 3 ? x : 40));
    return 0;
  }
  }
}

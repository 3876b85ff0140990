/* Concrete: ITER times 1,024 steps of a xorshift generator, in registers. */
#ifndef ITER
#define ITER 2000
#endif
int main(void) {
  unsigned x = 2463534242u, mixed = 0;
  for (int i = 0; i < ITER; i++)
    for (int j = 0; j < 1024; j++) {
      x ^= x << 13; x ^= x >> 17; x ^= x << 5;
      if (x & 1) mixed += 3; else mixed ^= x;
    }
  return (int)(mixed & 0x7f);
}

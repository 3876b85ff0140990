/* A loop that counts up to an input: one fork a round, all on one value. BYTES=1 makes it of single bytes. */
#include <klee/klee.h>
#ifndef ROUNDS
#define ROUNDS 8000
#endif
int main(void) {
#ifdef BYTES
  unsigned char parts[2];
  klee_make_symbolic(parts, sizeof parts, "parts");
  unsigned n = parts[0] | parts[1] << 8;
#else
  unsigned n;
  klee_make_symbolic(&n, sizeof n, "n");
#endif
  klee_assume(n <= ROUNDS);
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < n; i++)
    sum += i;
  return 0;
}

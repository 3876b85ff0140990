/* Section 4 of Bugrara and Engler: a loop over what was read, of which only the end matters. A read gives -1, 0, or
 * 1 to 7 bytes, each on a path of its own, as a system call does that may come short. */
#include "klee/klee.h"

#ifndef ROUNDS
#define ROUNDS 3
#endif

static volatile int total;

static int fetch(void) {
  unsigned char n;
  klee_make_symbolic(&n, 1, "n");
  for (int size = -1; size < 7; size++)
    if (n == size + 1) return size;
  return 7;
}

int main(void) {
  int rounds = 0;
  while (rounds < ROUNDS) {
    int bytes_read = fetch();
    if (bytes_read <= 0) break;
    total += bytes_read;
    rounds++;
  }
  if (rounds > ROUNDS) return 1;
  return 0;
}

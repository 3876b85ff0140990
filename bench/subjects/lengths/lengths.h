/* Data of any length up to LONGEST, or, with -DONE_LENGTH, of just that length. */
#include <klee/klee.h>
#include <stdlib.h>
#ifndef LONGEST
#define LONGEST 12
#endif

static inline char *any_data(size_t *length) {
#ifdef ONE_LENGTH
  size_t n = ONE_LENGTH;
#else
  size_t n;
  klee_make_symbolic(&n, sizeof n, "length");
  klee_assume(n <= LONGEST);
#endif
  char *data = malloc(n);
  klee_make_symbolic(data, n, "data");
  *length = n;
  return data;
}

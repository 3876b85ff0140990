/* strncasecmp of two buffers, as far as the longer one goes. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), m = any_size(1, "m");
  klee_assume(n <= 3);
  klee_assume(m <= 3);
  char *p = any_bytes(n, "p"), *q = any_bytes(m, "q");
  return strncasecmp(p, q, n > m ? n : m) < 0; /* ERROR: out-of-bounds */
}

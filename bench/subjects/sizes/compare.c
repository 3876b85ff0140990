/* strncasecmp of two buffers, as far as both go. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), m = any_size(1, "m");
  klee_assume(n <= 3);
  klee_assume(m <= 3);
  char *p = any_bytes(n, "p"), *q = any_bytes(m, "q");
  int d = strncasecmp(p, q, n < m ? n : m);
  if (p[0] == 'A' && q[0] == 'b')
    assert(d < 0);
  return 0;
}

/* What realloc has taken away. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(2, "n"), m = any_size(1, "m");
  char *p = calloc(n, 1);
  p = realloc(p, m);
  p[n - 1] = 1; /* ERROR: out-of-bounds */
  assert(m >= n);
  return 0;
}

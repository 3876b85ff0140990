/* n rows of n, and one column more: past the end in the last row only. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  klee_assume(n <= 3);
  char *p = malloc(n * n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= n; j++)
      p[i * n + j] = 1; /* ERROR: out-of-bounds */
  return 0;
}

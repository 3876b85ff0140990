/* n rows of m. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n"), m = any_size(0, "m"), count = 0;
  klee_assume(n <= 3);
  klee_assume(m <= 3);
  char *p = malloc(n * m);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) {
      p[i * m + j] = 1;
      count++;
    }
  assert(count == n * m);
  return 0;
}

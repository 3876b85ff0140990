/* Fill with the index, which is too large for large n. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  int *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (int)i;
  for (size_t i = 0; i < n; i++)
    assert(p[i] < MAX / 2); /* ERROR: assert */
  return 0;
}

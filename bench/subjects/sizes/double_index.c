/* Every other element is past the end from the middle on. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n");
  short *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i * 2] = 1; /* ERROR: out-of-bounds */
  return 0;
}

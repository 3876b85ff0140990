/* Fill to n, and one more. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = malloc(n);
  for (size_t i = 0; i <= n; i++)
    p[i] = 7; /* ERROR: out-of-bounds */
  return 0;
}

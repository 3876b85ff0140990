/* strchr in a string that ends at its last byte. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n");
  char *p = any_bytes(n, "p");
  p[n - 1] = 0;
  char *q = strchr(p, ':');
  if (q)
    assert((size_t)(q - p) < n - 1 && *q == ':');
  return 0;
}

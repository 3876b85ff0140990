/* Nothing ends the string. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = any_bytes(n, "p"), *q = p;
  while (*q) /* ERROR: out-of-bounds */
    q++;
  assert((size_t)(q - p) < n);
  return 0;
}

/* The last byte ends the string. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n");
  char *p = any_bytes(n, "p"), *q = p;
  p[n - 1] = 0;
  while (*q)
    q++;
  assert((size_t)(q - p) < n);
  return 0;
}

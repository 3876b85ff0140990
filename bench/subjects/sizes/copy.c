/* Two blocks, one as long as the other and one more. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = any_bytes(n, "p"), *q = malloc(n + 1);
  memcpy(q, p, n);
  q[n] = 0;
  if (n > 1)
    assert(q[1] == p[1]);
  memcpy(p, q, n + 1); /* ERROR: out-of-bounds */
  return 0;
}

/* memchr of more than there is. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = any_bytes(n, "p");
  return memchr(p, 1, n + 1) != 0; /* ERROR: out-of-bounds */
}

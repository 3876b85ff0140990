/* memset of one more. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = malloc(n);
  memset(p, 3, n + 1); /* ERROR: out-of-bounds */
  return 0;
}

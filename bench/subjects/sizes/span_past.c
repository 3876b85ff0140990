/* A run that nothing ends. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), i = 0;
  char *p = any_bytes(n, "p");
  while (p[i] == 'a') /* ERROR: out-of-bounds */
    i++;
  assert(i < n);
  return 0;
}

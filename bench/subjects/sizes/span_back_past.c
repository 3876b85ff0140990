/* A run at the end, which may reach beyond the start. */
#include "sizes.h"

int main(void) {
  long n = (long)any_size(1, "n"), i = n - 1;
  char *p = any_bytes((size_t)n, "p");
  while (p[i] == ' ') /* ERROR: out-of-bounds */
    i--;
  assert(i >= 0);
  return 0;
}

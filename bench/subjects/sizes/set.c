/* memset of all. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), i = any_size(0, "i");
  char *p = malloc(n);
  memset(p, 3, n);
  if (i < n)
    assert(p[i] == 3);
  return 0;
}

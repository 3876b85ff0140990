/* A run at the end. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n"), i = n;
  char *p = any_bytes(n, "p");
  while (i > 0 && p[i - 1] == ' ')
    i--;
  if (i < n)
    assert(p[i] == ' ');
  if (i > 0)
    assert(p[i - 1] != ' ');
  return 0;
}

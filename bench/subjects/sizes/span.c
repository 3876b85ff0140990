/* A run of two letters. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), i = 0;
  char *p = any_bytes(n, "p");
  while (i < n && (p[i] == 'a' || p[i] == 'b'))
    i++;
  if (i > 2)
    assert(p[2] == 'a' || p[2] == 'b');
  return 0;
}

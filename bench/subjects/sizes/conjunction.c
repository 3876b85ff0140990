/* A token that ends at any of several bytes. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n"), i = 0;
  char *p = any_bytes(n, "p");
  while (i < n && p[i] != ';' && p[i] != ',' && p[i] > ' ')
    i++;
  if (i < n)
    assert(p[i] == ';' || p[i] == ',' || p[i] <= ' ');
  assert(i < n); /* ERROR: assert */
  return 0;
}

/* A loop that ends in the middle. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), i;
  char *p = malloc(n);
  for (i = 0; i < n; i++) {
    if (i == n / 2)
      break;
    p[i] = 1;
  }
  assert(i == n / 2);
  return 0;
}

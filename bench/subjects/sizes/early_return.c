/* A return in the third round. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = malloc(n);
  for (size_t i = 0; i < n; i++) {
    if (i == 2)
      return 2;
    p[i] = 1;
  }
  assert(n <= 2);
  return 0;
}

/* An abort in the third round. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  char *p = malloc(n);
  for (size_t i = 0; i < n; i++) {
    if (i == 2)
      abort(); /* ERROR: abort */
    p[i] = 1;
  }
  return 0;
}

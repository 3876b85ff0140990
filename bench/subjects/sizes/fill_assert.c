/* Fill, then all are what they were filled with. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n");
  int *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = 7;
  for (size_t i = 0; i < n; i++)
    assert(p[i] == 7);
  return 0;
}

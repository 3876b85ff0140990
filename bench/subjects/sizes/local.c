/* An array on the stack. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), i = any_size(0, "i");
  int a[n];
  for (size_t k = 0; k < n; k++)
    a[k] = (int)k;
  assert(a[i] == (int)i); /* ERROR: out-of-bounds */
  return 0;
}

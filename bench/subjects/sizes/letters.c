/* Count letters. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n"), count = 0;
  klee_assume(n <= 6);
  char *p = any_bytes(n, "p");
  for (size_t i = 0; i < n; i++)
    if ((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z'))
      count++;
  assert(count <= n);
  assert(count != 5); /* ERROR: assert */
  return 0;
}

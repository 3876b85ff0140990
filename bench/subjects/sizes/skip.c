/* Skip blanks, then a number. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n"), k = 0, end;
  klee_assume(n <= 6);
  char *p = any_bytes(n, "p");
  while (k < n && p[k] == ' ')
    k++;
  for (end = k; end < n && p[end] >= '0' && p[end] <= '9'; end++)
    ;
  assert(k <= end && end <= n);
  assert(end - k < 4); /* ERROR: assert */
  return 0;
}

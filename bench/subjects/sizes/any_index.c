/* One access at any index. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(0, "n"), i;
  klee_make_symbolic(&i, sizeof i, "i");
  klee_assume(i < 1000);
  int *p = calloc(n, sizeof *p);
  assert(p[i] == 0); /* ERROR: out-of-bounds */
  assert(i < n);
  return 0;
}

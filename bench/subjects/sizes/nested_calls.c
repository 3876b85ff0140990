/* Rows that are filled by a function. */
#include "sizes.h"

static void put(short *row, size_t m, short value) {
  for (size_t j = 0; j < m; j++)
    row[j] = value;
}

int main(void) {
  size_t n = any_size(0, "n"), m = any_size(1, "m");
  klee_assume(n <= 4);
  klee_assume(m <= 3);
  short *p = calloc(n, m * sizeof *p);
  for (size_t i = 0; i < n; i++)
    put(p + i * m, m, (short)i);
  if (n > 2)
    assert(p[2 * m] == 2);
  return 0;
}

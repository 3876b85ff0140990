/* The last row is never allocated. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n");
  char **rows = calloc(n, sizeof *rows);
  for (size_t i = 0; i + 1 < n; i++)
    rows[i] = malloc(n);
  for (size_t i = 0; i < n; i++)
    rows[i][n - 1] = 1; /* ERROR: null-pointer */
  return 0;
}

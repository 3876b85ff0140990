/* An array of pointers with an allocation for each. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n");
  char **rows = calloc(n, sizeof *rows);
  for (size_t i = 0; i < n; i++) {
    rows[i] = malloc(i + 1);
    rows[i][i] = (char)i;
  }
  for (size_t i = 0; i < n; i++) {
    assert(rows[i][i] == (char)i);
    free(rows[i]);
  }
  free(rows);
  return 0;
}

/* What was never written is used. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(2, "n");
  char *p = malloc(n);
  for (size_t i = 0; i < n / 2; i++)
    p[i] = 1;
  if (p[n - 1] == 1) /* ERROR: uninitialised */
    return 1;
  return 0;
}

/* The first x among n bytes. */
#include "loops.h"

int main(void) {
  size_t n, i = 0;
  char *s = any_bytes(&n);
  while (i < n && s[i] != 'x') i++;
  if (i == n) return 5;
  DECIDE(i);
  return 0;
}

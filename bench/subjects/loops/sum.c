/* The sum of n bytes. */
#include "loops.h"

int main(void) {
  size_t n;
  char *s = any_bytes(&n);
  unsigned v = 0;
  for (size_t i = 0; i < n; i++) v += (unsigned char)s[i];
  if (v == 255) return 3;
  if (v == 17 && n == 3) return 4;
  return 0;
}

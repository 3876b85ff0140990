/* A rotating checksum of n bytes. */
#include "loops.h"

int main(void) {
  size_t n;
  char *s = any_bytes(&n);
  unsigned v = 0;
  for (size_t i = 0; i < n; i++) v = (v << 1 | v >> 31) + (unsigned char)s[i];
  if (v == 0x1234) return 3;
  DECIDE(n);
  return 0;
}

/* How many of the first bytes are among two letters. */
#include "loops.h"

int main(void) {
  size_t n;
  char *s = any_bytes(&n);
  int r = span_of(s, n, "ab");
  DECIDE(r);
  return 0;
}

/* Two loops, the second of which starts where the first stopped. */
#include "loops.h"

int main(void) {
  size_t n;
  char *s = any_bytes(&n);
  int a = span_of(s, n, "ab");
  int b = span_of(s + a, n - (size_t)a, "cd");
  DECIDE(a);
  DECIDE(b);
  return 0;
}

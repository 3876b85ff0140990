/* A decimal number at the start of a text. */
#include "loops.h"

int main(void) {
  char *s = any_text();
  unsigned v = 0;
  int i = 0;
  while (s[i] >= '0' && s[i] <= '9') {
    v = v * 10 + (unsigned)(s[i] - '0');
    i++;
  }
  if (v == 4711) return 3;
  DECIDE(i);
  return 0;
}

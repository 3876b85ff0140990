/* A copy of a text. */
#include "loops.h"

int main(void) {
  char *s = any_text(), copy[M + 1], *p = copy;
  while ((*p++ = *s++)) {
  }
  int r = (int)(p - copy);
  DECIDE(r);
  if (copy[0] == 'x' && r > 1 && copy[r - 2] == 'y') return 3;
  return 0;
}

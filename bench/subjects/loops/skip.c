/* White space at the start of a text. */
#include "loops.h"

int main(void) {
  char *s = any_text(), *p = s;
  while (*p == ' ' || *p == '\t') p++;
  DECIDE(p - s);
  if (*p == '#') return 3;
  if (!*p) return 4;
  return 0;
}

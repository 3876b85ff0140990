/* The first colon of a text. */
#include "loops.h"

int main(void) {
  char *s = any_text(), *p = s;
  while (*p && *p != ':') p++;
  if (!*p) return 5;
  DECIDE(p - s);
  if (p[1] == '/') return 3;
  return 0;
}

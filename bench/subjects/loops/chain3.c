/* Blanks, digits, blanks, a colon, blanks. */
#include "loops.h"

int main(void) {
  char *p = any_text();
  while (*p == ' ') p++;
  char *q = p;
  while (*p >= '0' && *p <= '9') p++;
  if (p == q) return 5;
  int digits = (int)(p - q);
  while (*p == ' ') p++;
  if (*p == ':') {
    p++;
    while (*p == ' ') p++;
    if (!*p) return 6;
    return digits == 3 ? 7 : 8;
  }
  DECIDE(digits);
  return 0;
}

/* The first character that is not among three. */
#include "loops.h"

int main(void) {
  char *s = any_text();
  int r = 0;
  while (s[r]) {
    const char *a = "abc";
    while (*a && *a != s[r]) a++;
    if (!*a) break;
    r++;
  }
  DECIDE(r);
  return 0;
}

/* White space cut off the end of a text: one loop forwards, one back. */
#include "loops.h"

int main(void) {
  char *s = any_text();
  int e = 0;
  while (s[e]) e++;
  while (e > 0 && (s[e - 1] == ' ' || s[e - 1] == '\n')) e--;
  s[e] = 0;
  DECIDE(e);
  return 0;
}

/* The length of a text. */
#include "loops.h"

int main(void) {
  char *s = any_text();
  int r = 0;
  while (s[r]) r++;
  DECIDE(r);
  return 0;
}

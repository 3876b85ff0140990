/* A hexadecimal number at the start of a text. */
#include "loops.h"

int main(void) {
  char *s = any_text();
  unsigned v = 0;
  int i = 0;
  for (;; i++) {
    char c = s[i];
    int digit;
    if (c >= '0' && c <= '9')
      digit = c - '0';
    else if (c >= 'a' && c <= 'f')
      digit = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      digit = c - 'A' + 10;
    else
      break;
    v = v * 16 + (unsigned)digit;
  }
  if (v == 0xbeef) return 3;
  DECIDE(i);
  return 0;
}

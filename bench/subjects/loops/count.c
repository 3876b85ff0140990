/* Commas among n bytes. */
#include "loops.h"

int main(void) {
  size_t n;
  char *s = any_bytes(&n);
  int c = 0;
  for (size_t i = 0; i < n; i++)
    if (s[i] == ',') c++;
  DECIDE(c);
  return 0;
}

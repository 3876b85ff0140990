/* The number of lines, and the longest of them. */
#include "loops.h"

int main(void) {
  char *p = any_text();
  int lines = 0, best = 0;
  while (*p) {
    int length = 0;
    while (*p && *p != '\n') {
      p++;
      length++;
    }
    if (length > best) best = length;
    lines++;
    if (*p) p++;
  }
  if (lines == 3) return 1;
  if (best > M / 2) return 2;
  return 0;
}

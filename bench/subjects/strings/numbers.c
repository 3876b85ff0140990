/* Numbers between spaces, added up. */
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  char text[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  text[SIZE - 1] = 0;
  long sum = 0;
  char *next = text;
  for (int i = 0; i < 3; i++) {
    char *end;
    long value = strtol(next, &end, 10);
    if (end == next) break;
    sum += value;
    next = end;
  }
  return sum == 100 ? 1 : sum < 0 ? 2 : 0;
}

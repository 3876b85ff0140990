/* name=number: which setting, and whether the number is in its range. */
#include <errno.h>
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char text[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  text[SIZE - 1] = 0;
  char *sign = strchr(text, '=');
  if (!sign) return 1;
  char *end;
  errno = 0;
  long value = strtol(sign + 1, &end, 0);
  if (end == sign + 1 || *end || errno) return 2;
  if (!strncmp(text, "size=", 5)) return value < 0 || value > 9000 ? 3 : 4;
  if (!strncmp(text, "n=", 2)) return value % 7 == 3 ? 5 : 6;
  return 7;
}

/* A key, an equals sign, a value up to a semicolon without the blanks around it. */
#include "loops.h"

int main(void) {
  char *s = any_text(), *p = s;
  while (*p && *p != '=') p++;
  if (!*p) return 1;
  char *key_end = p++;
  while (*p == ' ') p++;
  char *value = p;
  while (*p && *p != ';') p++;
  if (*p != ';') return 2;
  int length = (int)(p - value);
  char *end = p;
  while (end > value && end[-1] == ' ') end--;
  if (end == value) return 3;
  if (key_end == s) return 4;
  if (length > M / 2) return 5;
  return 0;
}

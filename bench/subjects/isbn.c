/* Checks an ISBN of SIZE characters as it stands on a book: ten or thirteen digits with hyphens between them, X for
 * ten at the end of the short form, weighted sums modulo 11 or 10. -DDIGITS sets the length of the short form. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 6
#endif
#ifndef DIGITS
#define DIGITS (SIZE - 1)
#endif

enum { RIGHT, BAD_CHARACTER, BAD_HYPHEN, BAD_LENGTH, BAD_SUM };

static int check(const char *text, int length) {
  int digits = 0, sum = 0, alternate = 0, hyphen = 1;
  for (int i = 0; i < length && text[i]; i++) {
    char c = text[i];
    int value;
    if (c == '-') {
      if (hyphen) return BAD_HYPHEN;
      hyphen = 1;
      continue;
    }
    hyphen = 0;
    if (c >= '0' && c <= '9')
      value = c - '0';
    else if ((c == 'X' || c == 'x') && digits == DIGITS - 1)
      value = 10;
    else
      return BAD_CHARACTER;
    sum += (DIGITS - digits) * value;
    alternate += digits % 2 ? 3 * value : value;
    digits++;
  }
  if (hyphen) return BAD_HYPHEN;
  if (digits == DIGITS) return sum % 11 == 0 ? RIGHT : BAD_SUM;
  if (digits == DIGITS + 3) return alternate % 10 == 0 ? RIGHT : BAD_SUM;
  return BAD_LENGTH;
}

int main(void) {
  char text[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  return check(text, SIZE);
}

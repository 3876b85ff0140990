/* Adds up a list of numbers as tools take them on the command line: 10,3k,0x1f. SIZE symbolic bytes; decimal or
 * hexadecimal numbers, suffixes k and m, commas between them. The sum must not pass LIMIT. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 4
#endif
#define LIMIT 1000000u

enum { FINE, NO_DIGITS, TOO_LARGE, TRAILING };

static int digit(char c, unsigned base) {
  if (c >= '0' && c <= '9') return c - '0';
  if (base == 16 && c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static int number(const char **text, unsigned *result) {
  const char *p = *text;
  unsigned base = 10, sum = 0;
  if (p[0] == '0' && p[1] == 'x') {
    base = 16;
    p += 2;
  }
  if (digit(*p, base) < 0) return NO_DIGITS;
  for (int d; (d = digit(*p, base)) >= 0; p++) {
    sum = sum * base + (unsigned)d;
    if (sum > LIMIT) return TOO_LARGE;
  }
  if (*p == 'k') {
    sum *= 1000;
    p++;
  } else if (*p == 'm') {
    sum *= 1000000;
    p++;
  }
  *text = p;
  *result = sum;
  return FINE;
}

static int add_up(const char *text, unsigned *total) {
  for (;;) {
    unsigned one;
    int wrong = number(&text, &one);
    if (wrong) return wrong;
    if (one > LIMIT || *total + one > LIMIT) return TOO_LARGE;
    *total += one;
    if (*text == 0) return FINE;
    if (*text++ != ',') return TRAILING;
  }
}

int main(void) {
  char text[SIZE + 1];
  unsigned total = 0;
  klee_make_symbolic(text, sizeof text, "text");
  text[SIZE] = 0;
  int wrong = add_up(text, &total);
  klee_assert(total <= LIMIT);
  return wrong;
}

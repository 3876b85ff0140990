/* A backtracking matcher for c . ^ $ * with a symbolic pattern of SIZE bytes against "hello".
 * The pattern has no terminator, so that some paths read behind it; -DTERM sets one. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 7
#endif

static int here(char *pattern, char *text);

static int star(int c, char *pattern, char *text) {
  do {
    if (here(pattern, text)) return 1;
  } while (*text != '\0' && (*text++ == c || c == '.'));
  return 0;
}

static int here(char *pattern, char *text) {
  if (pattern[0] == '\0') return 0;
  if (pattern[1] == '*') return star(pattern[0], pattern + 2, text);
  if (pattern[0] == '$' && pattern[1] == '\0') return *text == '\0';
  if (*text != '\0' && (pattern[0] == '.' || pattern[0] == *text)) return here(pattern + 1, text + 1);
  return 0;
}

static int match(char *pattern, char *text) {
  if (pattern[0] == '^') return here(pattern + 1, text);
  do {
    if (here(pattern, text)) return 1;
  } while (*text++ != '\0');
  return 0;
}

int main(void) {
  char pattern[SIZE];
  klee_make_symbolic(pattern, sizeof pattern, "pattern");
#ifdef TERM
  pattern[SIZE - 1] = 0;
#endif
  return match(pattern, (char *)"hello");
}

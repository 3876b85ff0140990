/* Are the brackets of a JSON-like text balanced? SIZE symbolic bytes; brackets in strings do not count, and \ takes
 * the meaning of the next character in a string. At most DEPTH may be open. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 5
#endif
#ifndef DEPTH
#define DEPTH 8
#endif

enum { BALANCED, UNEXPECTED, TOO_DEEP, OPEN_STRING, NOT_CLOSED };

static int check(const char *text, int length, int *deepest) {
  char open[DEPTH];
  int depth = 0, in_string = 0;
  for (int i = 0; i < length; i++) {
    char c = text[i];
    if (in_string) {
      if (c == '\\')
        i++;
      else if (c == '"')
        in_string = 0;
      continue;
    }
    switch (c) {
    case '"':
      in_string = 1;
      break;
    case '[':
    case '{':
      if (depth == DEPTH) return TOO_DEEP;
      open[depth++] = c;
      if (depth > *deepest) *deepest = depth;
      break;
    case ']':
      if (depth == 0 || open[--depth] != '[') return UNEXPECTED;
      break;
    case '}':
      if (depth == 0 || open[--depth] != '{') return UNEXPECTED;
      break;
    }
  }
  if (in_string) return OPEN_STRING;
  return depth ? NOT_CLOSED : BALANCED;
}

int main(void) {
  char text[SIZE];
  int deepest = 0;
  klee_make_symbolic(text, sizeof text, "text");
  int result = check(text, SIZE, &deepest);
  klee_assert(deepest >= 0 && deepest <= DEPTH && (result != TOO_DEEP || deepest == DEPTH));
  return result;
}

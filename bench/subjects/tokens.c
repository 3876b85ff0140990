/* Splits SIZE symbolic bytes of source text into tokens, as the first step of a compiler does, and counts their
 * kinds. The text ends at its first zero, at the latest behind the last byte. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 4
#endif

enum kind { END, NAME, NUMBER, STRING, OPERATOR, WRONG, KINDS };

static int letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip(const char *p) {
  for (;;) {
    while (*p == ' ' || *p == '\t' || *p == '\n') p++;
    if (p[0] != '/' || p[1] != '/') return p;
    while (*p && *p != '\n') p++;
  }
}

static enum kind next(const char **text) {
  const char *p = skip(*text);
  enum kind kind;
  if (*p == 0)
    kind = END;
  else if (letter(*p)) {
    kind = NAME;
    while (letter(*p) || digit(*p)) p++;
  } else if (digit(*p)) {
    kind = NUMBER;
    while (digit(*p)) p++;
    if (letter(*p)) kind = WRONG;
  } else if (*p == '"') {
    kind = STRING;
    for (p++; *p && *p != '"'; p++)
      if (*p == '\\' && p[1]) p++;
    if (*p)
      p++;
    else
      kind = WRONG;
  } else {
    kind = OPERATOR;
    switch (*p++) {
    case '+':
    case '-':
    case '&':
    case '|':
      if (*p == p[-1] || *p == '=') p++;
      break;
    case '<':
    case '>':
    case '=':
    case '!':
    case '*':
    case '/':
      if (*p == '=') p++;
      break;
    case '(':
    case ')':
    case ';':
    case ',':
      break;
    default:
      kind = WRONG;
    }
  }
  *text = p;
  return kind;
}

int main(void) {
  char text[SIZE + 1];
  int count[KINDS] = {0, 0, 0, 0, 0, 0};
  klee_make_symbolic(text, sizeof text, "text");
  text[SIZE] = 0;
  const char *p = text;
  enum kind kind;
  do {
    kind = next(&p);
    count[kind]++;
  } while (kind != END && kind != WRONG);
  klee_assert(count[END] + count[WRONG] == 1);
  return kind == WRONG;
}

/* Reads settings, one a line: key = value, where a value may stand in quotes with \ before any character; lines
 * that are empty or start with # are skipped. SIZE symbolic bytes, ended by a zero before that or behind. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 5
#endif
#define LONGEST 8

struct settings {
  int lines, pairs, quoted, escapes, longest;
};

static const char *at;

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(void) {
  while (*at == ' ' || *at == '\t') at++;
}

/* The length of a key, 0 if there is none. */
static int key(void) {
  int length = 0;
  if (!is_letter(*at)) return 0;
  while (is_letter(*at) || is_digit(*at)) {
    at++;
    length++;
  }
  return length;
}

/* The length of a value in quotes, -1 if the closing one is missing. */
static int quoted(struct settings *s) {
  int length = 0;
  at++;
  while (*at != '"') {
    if (*at == '\\') {
      at++;
      s->escapes++;
    }
    if (*at == 0 || *at == '\n') return -1;
    at++;
    length++;
  }
  at++;
  s->quoted++;
  return length;
}

static int bare(void) {
  int length = 0;
  while (*at && *at != '\n' && *at != '#') {
    at++;
    length++;
  }
  return length;
}

/* 0, or what is wrong in the last line looked at. */
static int parse(const char *text, struct settings *s) {
  at = text;
  while (*at) {
    s->lines++;
    skip_blanks();
    if (*at != '\n' && *at != '#' && *at) {
      int length = key();
      if (length == 0) return 1;
      if (length > LONGEST) return 2;
      skip_blanks();
      if (*at != '=') return 3;
      at++;
      skip_blanks();
      length = *at == '"' ? quoted(s) : bare();
      if (length < 0) return 4;
      if (length > s->longest) s->longest = length;
      skip_blanks();
      s->pairs++;
    }
    if (*at == '#')
      while (*at && *at != '\n') at++;
    if (*at && *at != '\n') return 5;
    if (*at) at++;
  }
  return 0;
}

int main(void) {
  char text[SIZE + 1];
  struct settings s = {0, 0, 0, 0, 0};
  klee_make_symbolic(text, sizeof text, "text");
  text[SIZE] = 0;
  int wrong = parse(text, &s);
  klee_assert(s.pairs <= s.lines && s.quoted <= s.pairs + 1);
  return wrong;
}

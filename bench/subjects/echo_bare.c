/* An echo without a C library: N symbolic arguments of up to L characters, "-n" understood. */
#include "klee/klee.h"

#ifndef N
#define N 2
#endif
#ifndef L
#define L 2
#endif

volatile unsigned char written[4096];
unsigned count;

static void emit(int c) { written[count++] = (unsigned char)c; }

static int compare(const char *a, const char *b) {
  while (*a && *a == *b) {
    a++;
    b++;
  }
  return (unsigned char)*a - (unsigned char)*b;
}

static int echo(int argc, char **argv) {
  int newline = 1, next = 1;
  if (next < argc)
    if (compare(argv[next], "-n") == 0) {
      newline = 0;
      ++next;
    }
  for (; next < argc; ++next)
    for (int i = 0; argv[next][i] != 0; ++i)
      emit(argv[next][i]);
  if (newline) emit('\n');
  return 0;
}

int main(void) {
  static char text[N][L + 1];
  char *argv[N + 2];
  klee_make_symbolic(text, sizeof text, "text");
  argv[0] = (char *)"echo";
  for (int i = 0; i < N; i++) {
    text[i][L] = 0;
    argv[i + 1] = text[i];
  }
  argv[N + 1] = 0;
  return echo(N + 1, argv);
}

/* How many of the first n bytes are 'a' or 'b': M symbolic bytes, symbolic n of at most M. 3 * 2^M - 2 paths. */
#include <stddef.h>

#include "klee/klee.h"

#ifndef M
#define M 5
#endif

static int span(char *bytes, size_t n, char *accepted) {
  char *p = accepted;
  int count = 0;
  while (*p && count < n) {
    if (*p == bytes[count]) {
      count++;
      p = accepted;
    } else
      p++;
  }
  return count;
}

int main(void) {
  char bytes[M];
  size_t n;
  klee_make_symbolic(bytes, sizeof bytes, "bytes");
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= M);
  return span(bytes, n, (char *)"ab");
}

/* Data of unknown size for the programs on loops: n bytes, or a text of at most M bytes before its zero. */
#include <klee/klee.h>
#include <stdlib.h>
#ifndef M
#define M 20
#endif

/* From 1 to M bytes. */
static inline char *any_bytes(size_t *n) {
  klee_make_symbolic(n, sizeof *n, "n");
  klee_assume(*n >= 1);
  klee_assume(*n <= M);
#ifdef ONE_SIZE
  char *s = malloc(M);
  klee_make_symbolic(s, M, "s");
#else
  char *s = malloc(*n);
  klee_make_symbolic(s, *n, "s");
#endif
  return s;
}

static inline char *any_text(void) {
#ifdef ONE_SIZE
  size_t n = M;
#else
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= M);
#endif
  char *s = malloc(n + 1);
  klee_make_symbolic(s, n + 1, "s");
  s[n] = 0;
  return s;
}

/* Decisions on what a loop computed. */
#define DECIDE(number) \
  do { \
    int decided = (int)(number); \
    if (decided == M / 2) return 1; \
    if (decided > M / 4) return 2; \
  } while (0)

/* How many of the first n bytes are among `set`, up to the first that is not. */
static inline int span_of(const char *s, size_t n, const char *set) {
  const char *p = set;
  int count = 0;
  while (*p && (size_t)count < n) {
    if (*p == s[count]) {
      count++;
      p = set;
    } else {
      p++;
    }
  }
  return count;
}

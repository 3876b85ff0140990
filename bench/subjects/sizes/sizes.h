/* What the programs on objects of unknown size share. MAX is the largest size. */
#include <assert.h>
#include <ctype.h>
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifndef MAX
#define MAX 8
#endif

static inline size_t any_size(size_t least, const char *name) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, name);
  klee_assume(n >= least);
  klee_assume(n <= MAX);
  return n;
}
/* A block of n bytes that can be anything. */
static inline char *any_bytes(size_t n, const char *name) {
  char *p = malloc(n);
  klee_make_symbolic(p, n, name);
  return p;
}

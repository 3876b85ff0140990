/* Strings and blocks whose size is part of the input: up to CAPACITY bytes, or with -DONE_SIZE just so many. */
#include <assert.h>
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

static inline size_t any_size(const char *name) {
#ifdef ONE_SIZE
  (void)name;
  return CAPACITY;
#else
  size_t n;
  klee_make_symbolic(&n, sizeof n, name);
  klee_assume(n <= CAPACITY);
  return n;
#endif
}

static inline char *any_block(size_t *size) {
  *size = any_size("size");
  char *block = malloc(*size);
  klee_make_symbolic(block, *size, "block");
  return block;
}

/* At most CAPACITY characters and the zero behind them. */
static inline char *named_string(const char *name) {
  size_t n = any_size("length");
  char *s = malloc(n + 1);
  klee_make_symbolic(s, n + 1, name);
  s[n] = 0;
  return s;
}

static inline char *any_string(void) { return named_string("string"); }

/* The length by a loop of its own, so that it is not what the functions under test call. */
static inline size_t length_of(const char *s) {
  size_t n = 0;
  while (s[n])
    n++;
  return n;
}

/* How many bytes of a string are this one. */
static inline size_t count_of(const char *s, char wanted) {
  size_t count = 0;
  for (; *s; s++)
    count += *s == wanted;
  return count;
}

/* The model and the plain C function on the same symbolic data give the same: one case a function.
 *
 * CASES says which of them are run, as X(strlen)X(strcmp). The blocks end where their data ends, so that reading
 * further is an error. Inputs with which the C function does that are left out; with FAILING, all others are, and
 * the model has to fail. With ALONE, only the model is called, on all inputs: to see how often it forks.
 * With HIDDEN, the blocks are longer, but what comes after their data is uninitialised; with FAR, the pointers are
 * symbolic.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <klee/klee.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "reference.h"

void *rawmemchr(const void *, int);

#ifndef N
#define N 3
#endif
#ifndef M
#define M 3
#endif
#ifndef HIDDEN
#define HIDDEN 0
#endif

static char s[N], t[M];

/* A pointer to data: in a block of exactly its size, or in a larger one that is otherwise uninitialised. */
static char *fresh(const char *data, size_t size, Block *block, const char *name) {
  char *p = malloc(size + HIDDEN);
  memcpy(p, data, size);
  size_t skip = 0;
#ifdef FAR
  klee_make_symbolic(&skip, sizeof skip, name);
  klee_assume(skip < size);
#endif
  block->p = p + skip, block->n = size - skip;
  return p + skip;
}

static void letters(char *p, size_t size, const char *name) {
  klee_make_symbolic(p, size, name);
#ifdef LETTERS
  for (size_t i = 0; i < size; i++) {
    int ok = 0;
    for (const char *c = LETTERS; *c; c++) ok |= p[i] == *c;
    klee_assume(ok | (p[i] == 0));
  }
#endif
}

static size_t some_size(size_t most) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= most);
  return n;
}

static int some_char(void) {
  int c;
  klee_make_symbolic(&c, sizeof c, "c");
  return c;
}

#ifndef FAILING
#define FAILING 0
#endif

#ifdef ALONE
static unsigned long sink;
#define EXPECT(type, model, reference) (sink = (unsigned long)(model))
#else
#define EXPECT(type, model, reference)                                                                                  \
  do {                                                                                                                  \
    type wanted = (type)(reference);                                                                                    \
    if (overrun != FAILING) klee_silent_exit(0);                                                                        \
    type got = (type)(model);                                                                                           \
    assert(!FAILING);                                                                                                   \
    assert(got == wanted);                                                                                              \
  } while (0)
#endif

#define TWO                                                                                                             \
  Block a, b;                                                                                                           \
  letters(s, N, "s"), letters(t, M, "t");                                                                               \
  char *p = fresh(s, N, &a, "skip_s"), *q = fresh(t, M, &b, "skip_t");                                                  \
  (void)p, (void)q;
#define ONE                                                                                                             \
  Block a;                                                                                                              \
  letters(s, N, "s");                                                                                                   \
  char *p = fresh(s, N, &a, "skip_s");                                                                                  \
  (void)p;

static void case_strlen(void) { ONE EXPECT(size_t, strlen(p), ref_strlen(a)); }
static void case_strnlen(void) { ONE size_t n = some_size(N + 1); EXPECT(size_t, strnlen(p, n), ref_strnlen(a, n)); }
static void case_strcmp(void) { TWO EXPECT(int, strcmp(p, q), ref_compare(a, b, -1, 1, same)); }
static void case_strncmp(void) { TWO size_t n = some_size(N + 1); EXPECT(int, strncmp(p, q, n), ref_compare(a, b, n, 1, same)); }
static void case_strcasecmp(void) { TWO EXPECT(int, strcasecmp(p, q), ref_compare(a, b, -1, 1, lower)); }
static void case_strncasecmp(void) { TWO EXPECT(int, strncasecmp(p, q, N + 1), ref_compare(a, b, N + 1, 1, lower)); }
static void case_memcmp(void) { TWO size_t n = some_size(N + 1); EXPECT(int, memcmp(p, q, n), ref_compare(a, b, n, 0, same)); }
static void case_bcmp(void) { TWO EXPECT(int, bcmp(p, q, N + 1), ref_compare(a, b, N + 1, 0, same)); }
static void case_memchr(void) { ONE int c = some_char(); size_t n = some_size(N + 1); EXPECT(char *, memchr(p, c, n), ref_memchr(a, c, n)); }
static void case_memrchr(void) { ONE int c = some_char(); size_t n = some_size(N + 1); EXPECT(char *, memrchr(p, c, n), ref_memrchr(a, c, n)); }
static void case_rawmemchr(void) { ONE int c = some_char(); EXPECT(char *, rawmemchr(p, c), ref_memchr(a, c, -1)); }
static void case_strchr(void) { ONE int c = some_char(); EXPECT(char *, strchr(p, c), ref_strchr(a, c)); }
static void case_strchr_a(void) { ONE EXPECT(char *, strchr(p, 'a'), ref_strchr(a, 'a')); }
static void case_strchrnul(void) { ONE int c = some_char(); EXPECT(char *, strchrnul(p, c), ref_strchrnul(a, c)); }
static void case_strrchr(void) { ONE int c = some_char(); EXPECT(char *, strrchr(p, c), ref_strrchr(a, c)); }
static void case_strspn(void) { TWO EXPECT(size_t, strspn(p, q), ref_span(a, b, 1)); }
static void case_strcspn(void) { TWO EXPECT(size_t, strcspn(p, q), ref_span(a, b, 0)); }
static void case_strpbrk(void) { TWO EXPECT(char *, strpbrk(p, q), ref_strpbrk(a, b)); }
static void case_strstr(void) { TWO EXPECT(char *, strstr(p, q), ref_strstr(a, b)); }
static void case_memmem(void) { TWO EXPECT(char *, memmem(p, a.n, q, b.n), ref_memmem(a, b)); }

/* Two copies of a destination: one for the model, one for the C function; all of it has to be equal. */
#ifndef ROOM
#define ROOM 4
#endif
#define COPIES(before)                                                                                                  \
  ONE char *to = malloc(ROOM), *other = malloc(ROOM);                                                                   \
  for (int i = 0; i < ROOM; i++) to[i] = other[i] = (before);
#ifdef ALONE
#define EXPECT_COPY(model, reference) EXPECT(char *, model, reference)
#else
#define EXPECT_COPY(model, reference)                                                                                   \
  do {                                                                                                                  \
    size_t length = (reference);                                                                                        \
    EXPECT(char *, model, overrun ? 0 : to + length);                                                                   \
    for (int i = 0; i < ROOM; i++) assert(to[i] == other[i]);                                                           \
  } while (0)
#endif

static void case_strcpy(void) { COPIES('#') EXPECT_COPY(strcpy(to, p), (ref_copy(other, ROOM, a, -1, 0, 0), 0)); }
static void case_stpcpy(void) { COPIES('#') EXPECT_COPY(stpcpy(to, p), ref_copy(other, ROOM, a, -1, 0, 0)); }
static void case_strncpy(void) { COPIES('#') size_t n = some_size(ROOM + 1); EXPECT_COPY(strncpy(to, p, n), (ref_copy(other, ROOM, a, n, 1, 0), 0)); }
static void case_stpncpy(void) { COPIES('#') EXPECT_COPY(stpncpy(to, p, ROOM), ref_copy(other, ROOM, a, ROOM, 1, 0)); }
static char middle[3];
static void case_strcat(void) {
  letters(middle, 3, "middle");
  COPIES(i < 2 ? middle[i] : i == 2 ? 0 : '#')
  EXPECT_COPY(strcat(to, p), (ref_append(other, ROOM, a, -1), 0));
}
static void case_strncat(void) {
  letters(middle, 3, "middle");
  COPIES(i < 2 ? middle[i] : i == 2 ? 0 : '#')
  size_t n = some_size(3);
  EXPECT_COPY(strncat(to, p, n), (ref_append(other, ROOM, a, n), 0));
}
static size_t ref_memcpy(char *to, Block s, size_t n) {
  if (n > ROOM || n > s.n) return overrun = 1, 0;
  for (size_t i = 0; i < n; i++) to[i] = s.p[i];
  return n;
}
static void case_memcpy(void) { COPIES('#') size_t n = some_size(ROOM + 1); EXPECT_COPY(memcpy(to, p, n), (ref_memcpy(other, a, n), 0)); }
static void case_memmove(void) { COPIES('#') size_t n = some_size(ROOM + 1); EXPECT_COPY(memmove(to, p, n), (ref_memcpy(other, a, n), 0)); }
static void case_mempcpy(void) { COPIES('#') size_t n = some_size(ROOM + 1); EXPECT_COPY(mempcpy(to, p, n), ref_memcpy(other, a, n)); }
static size_t ref_memset(char *to, int c, size_t n) {
  if (n > ROOM) return overrun = 1, 0;
  for (size_t i = 0; i < n; i++) to[i] = c;
  return 0;
}
static void case_memset(void) { COPIES('#') int c = some_char(); size_t n = some_size(ROOM + 1); EXPECT_COPY(memset(to, c, n), ref_memset(other, c, n)); }

/* A duplicate has the text and a NUL, and no byte more. */
#ifdef ALONE
#define EXPECT_TEXT(model, length) EXPECT(char *, model, 0)
#else
#define EXPECT_TEXT(model, length)                                                                                      \
  do {                                                                                                                  \
    size_t size = (length);                                                                                             \
    char *text = 0;                                                                                                     \
    EXPECT(size_t, malloc_usable_size(text = (model)), size + 1);                                                       \
    for (size_t i = 0; i < size; i++) assert(text[i] == a.p[i]);                                                        \
    assert(text[size] == 0);                                                                                            \
  } while (0)
#endif
static void case_strdup(void) { ONE EXPECT_TEXT(strdup(p), ref_strlen(a)); }
static void case_strndup(void) { ONE size_t n = some_size(N + 1); EXPECT_TEXT(strndup(p, n), ref_strnlen(a, n)); }

#ifndef BASE
#define BASE 10
#endif
#ifdef PREFIX
/* Digits that are known, so that few symbolic bytes are enough to overflow. */
#undef ONE
#define ONE                                                                                                             \
  Block a;                                                                                                              \
  char text[] = "?" PREFIX "??";                                                                                        \
  letters(s, 3, "s");                                                                                                   \
  text[0] = s[0], text[sizeof text - 3] = s[1], text[sizeof text - 2] = s[2];                                           \
  char *p = fresh(text, sizeof text, &a, "skip_s");
#endif
#ifdef ALONE
#define EXPECT_NUMBER(model, is_signed) do { char *end; EXPECT(long, model, 0); } while (0)
#else
#define EXPECT_NUMBER(model, is_signed)                                                                                 \
  do {                                                                                                                  \
    char *end = 0;                                                                                                      \
    errno = 7;                                                                                                          \
    EXPECT(long, model, ref_number(a, BASE, is_signed, 0));                                                             \
    assert(end == p + used);                                                                                            \
    assert(errno == (error ? error : 7));                                                                               \
  } while (0)
#endif
static void case_atoi(void) { ONE EXPECT(int, atoi(p), ref_number(a, 10, 1, 1)); }
static void case_atol(void) { ONE EXPECT(long, atol(p), ref_number(a, 10, 1, 1)); }
static void case_strtol(void) { ONE EXPECT_NUMBER(strtol(p, &end, BASE), 1); }
static void case_strtoul(void) { ONE EXPECT_NUMBER(strtoul(p, &end, BASE), 0); }

int main(void) {
  unsigned which;
  klee_make_symbolic(&which, sizeof which, "which");
  switch (which) {
#define X(name) case __COUNTER__: case_##name(); break;
    CASES
  }
  return 0;
}

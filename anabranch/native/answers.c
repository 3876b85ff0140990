/* Functions without a body, natively: each call gets the next answer that the test has for its function.
 *
 * ANABRANCH_ANSWERS names a file of lines, in this order:
 *     object NUMBER SIZE                      an object that answers lead to
 *     in NUMBER OFFSET BYTES VALUE            what is in it
 *     call FUNCTION                           a call; the lines about it follow
 *     result OFFSET BYTES VALUE               a part of its result
 *     write PARAMETER OFFSET BYTES VALUE      what it writes through a parameter, counted from 1
 *     fails FUNCTION NUMBER                   a call of an allocator that fails, counted from 0
 * where VALUE is `=` and a number, or `&`, the number of an object, and an offset in it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MISMATCH = 97 };

struct object { uint64_t number; unsigned char *at; struct object *next; };
struct part { uint64_t parameter, offset, size, value; struct part *next; }; /* parameter 0: the result */
struct call { char *function; int used; struct part *parts; struct call *next; };

struct failure { char *function; uint64_t number; struct failure *next; };

static struct object *objects;
static struct failure *failures;
static struct call *calls;
static int loaded;

static _Noreturn void bad(const char *why, const char *what) {
  fprintf(stderr, "replay: %s '%s'\n", why, what);
  exit(MISMATCH);
}

static void *make(size_t size) {
  void *at = calloc(1, size ? size : 1);
  if (!at) bad("out of memory for", "an answer");
  return at;
}

static unsigned char *find(uint64_t number) {
  for (struct object *o = objects; o; o = o->next) if (o->number == number) return o->at;
  bad("an answer leads to no object", "");
}

static uint64_t number(char **text) { return strtoull(*text, text, 0); }

static uint64_t value(char **text) {
  while (**text == ' ') (*text)++;
  if (*(*text)++ == '=') return number(text);
  unsigned char *at = find(number(text));
  return (uint64_t)(uintptr_t)(at + number(text));
}

static void put(unsigned char *at, uint64_t size, uint64_t v) {
  for (uint64_t i = 0; i < size; i++) at[i] = i < 8 ? (unsigned char)(v >> 8 * i) : 0;
}

/* Objects first: a value may lead to one that is described later. */
static void read_line(char *line, int first, struct call **last, struct part **end) {
  char *text = strchr(line, ' ');
  if (!text) return;
  *text++ = 0;
  if (!strcmp(line, "object") && first) {
    struct object *o = make(sizeof *o);
    o->number = number(&text);
    o->at = make(number(&text));
    o->next = objects;
    objects = o;
  } else if (!strcmp(line, "in") && !first) {
    unsigned char *at = find(number(&text));
    at += number(&text);
    uint64_t size = number(&text);
    put(at, size, value(&text));
  } else if (!strcmp(line, "fails") && !first) {
    struct failure *f = make(sizeof *f);
    char *end = strchr(text, ' ');
    if (!end) return;
    *end++ = 0;
    f->function = strdup(text);
    f->number = number(&end);
    f->next = failures;
    failures = f;
  } else if (!strcmp(line, "call") && !first) {
    struct call *c = make(sizeof *c);
    c->function = strdup(text);
    if (*last) (*last)->next = c; else calls = c;
    *last = c;
    *end = 0;
  } else if ((!strcmp(line, "result") || !strcmp(line, "write")) && !first && *last) {
    struct part *p = make(sizeof *p);
    p->parameter = line[0] == 'w' ? number(&text) : 0;
    p->offset = number(&text);
    p->size = number(&text);
    p->value = value(&text);
    if (*end) (*end)->next = p; else (*last)->parts = p;
    *end = p;
  }
}

/* By system calls: streams of the C library may be among the functions that answer as the test says. */
static char *contents(const char *path) {
  enum { STEP = 1 << 16 };
  long file = syscall(SYS_open, path, O_RDONLY);
  if (file < 0) bad("cannot open", path);
  char *text = make(STEP + 1);
  for (size_t size = 0;;) {
    long got = syscall(SYS_read, file, text + size, (size_t)STEP);
    if (got <= 0) break;
    size += got;
    char *more = make(size + STEP + 1);
    memcpy(more, text, size);
    free(text);
    text = more;
  }
  syscall(SYS_close, file);
  return text;
}

static void load(void) {
  const char *path = getenv("ANABRANCH_ANSWERS");
  loaded = 1;
  if (!path) return;
  char *whole = contents(path);
  for (int first = 1; first >= 0; first--) {
    struct call *last = 0;
    struct part *end = 0;
    for (char *at = whole; *at;) {
      size_t length = strcspn(at, "\n");
      char *line = make(length + 1);
      memcpy(line, at, length);
      read_line(line, first, &last, &end);
      free(line);
      at += length + (at[length] != 0);
    }
  }
}

void anabranch_answer(const char *function, unsigned char *result, uint64_t size, unsigned char **given,
                      uint64_t parameters) {
  if (!loaded) load();
  memset(result, 0, size);
  for (struct call *c = calls; c; c = c->next) {
    if (c->used || strcmp(c->function, function)) continue;
    c->used = 1;
    for (struct part *p = c->parts; p; p = p->next) {
      if (!p->parameter) put(result + p->offset, p->size, p->value);
      else if (p->parameter <= parameters && given[p->parameter - 1])
        put(given[p->parameter - 1] + p->offset, p->size, p->value);
    }
    return;
  }
  if (size) bad("the test has no answer of", function);
}

/* Allocators as the program calls them: calls inside of the library come to the real ones. */

static int fails(const char *function, uint64_t call) {
  if (!loaded) load();
  for (struct failure *f = failures; f; f = f->next)
    if (f->number == call && !strcmp(f->function, function)) {
      errno = ENOMEM;
      return 1;
    }
  return 0;
}

#define ALLOCATOR(result, name, parameters, arguments, failure) \
  result name parameters; \
  result anabranch_##name parameters { \
    static uint64_t calls; \
    return fails(#name, calls++) ? failure : name arguments; \
  }

ALLOCATOR(void *, malloc, (size_t n), (n), 0)
ALLOCATOR(void *, calloc, (size_t n, size_t size), (n, size), 0)
ALLOCATOR(void *, realloc, (void *old, size_t n), (old, n), 0)
ALLOCATOR(void *, reallocarray, (void *old, size_t n, size_t size), (old, n, size), 0)
ALLOCATOR(void *, aligned_alloc, (size_t align, size_t n), (align, n), 0)
ALLOCATOR(void *, memalign, (size_t align, size_t n), (align, n), 0)
ALLOCATOR(void *, valloc, (size_t n), (n), 0)
ALLOCATOR(int, posix_memalign, (void **to, size_t align, size_t n), (to, align, n), ENOMEM)
ALLOCATOR(char *, strdup, (const char *text), (text), 0)
ALLOCATOR(char *, strndup, (const char *text, size_t n), (text, n), 0)

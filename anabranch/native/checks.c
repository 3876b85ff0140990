/* Error detection for native replay: the run-time half of clang's checks of addresses.
 *
 * The compiler of the ziglang wheel instruments (-fsanitize=address) but brings no run-time library.
 * This file is that library, as small as replay needs it: shadow memory, red zones around globals, stack
 * objects and heap blocks, a heap that never reuses a freed block, and one line on stderr that names the kind:
 *     anabranch-check: KIND 0
 * followed by exit code 96. Checks of undefined behaviour, which know their line, are in undefined.c.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* no_builtin: a loop over shadow bytes must not become a call of the checked memset */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined"), no_builtin))
#define SHADOW(p) ((unsigned char *)(((uintptr_t)(p) >> 3) + 0x7fff8000ul))
#define GRANULE 8ul

enum { HEAP_ZONE = 0xfa, HEAP_FREED = 0xfd, GLOBAL_ZONE = 0xf9, ALLOCA_ZONE = 0xca };

__attribute__((noreturn)) void check_fail(const char *kind, unsigned line); /* undefined.c */

/* Shadow memory: one byte for eight, mapped whole and touched lazily. */

extern char **environ;
static int mapped;
static uintptr_t stack_top; /* the kernel puts the environment above the outermost frame */

UNCHECKED static void map_range(uintptr_t low, uintptr_t high) {
  void *at = mmap((void *)low, high - low, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) {
    static const char why[] = "anabranch-check: cannot map the shadow memory\n";
    if (write(2, why, sizeof why - 1) < 0) _exit(95);
    _exit(95);
  }
}

/* Linked before other run-time files, so that it comes first of all that runs before the program. */
__attribute__((constructor(0))) UNCHECKED void __asan_init(void) {
  if (mapped) return;
  stack_top = (uintptr_t)environ;
  map_range(0x7fff8000ul, 0x8fff7000ul);           /* shadow of the low half: code, data */
  map_range(0x02008fff7000ul, 0x10007fff8000ul);   /* shadow of the high half: heap maps, stack */
  mapped = 1;
}
void __asan_version_mismatch_check_v8(void) {}
int __asan_option_detect_stack_use_after_return = 1;

UNCHECKED static void poison(uintptr_t from, size_t size, unsigned char value) {
  unsigned char *s = SHADOW(from);
  for (size_t i = 0; i < size / GRANULE; i++) s[i] = value;
}

/* [from, from+size) usable, from there to from+padded red. from and padded are multiples of the granule. */
UNCHECKED static void usable(uintptr_t from, size_t size, size_t padded, unsigned char zone) {
  size_t whole = size & ~(GRANULE - 1);
  poison(from, whole, 0);
  if (whole < padded) {
    poison(from + whole, padded - whole, zone);
    if (size > whole) *SHADOW(from + whole) = (unsigned char)(size - whole);
  }
}

UNCHECKED static int bad_byte(uintptr_t p) {
  signed char s = (signed char)*SHADOW(p);
  return s != 0 && (signed char)(p & (GRANULE - 1)) >= s;
}

UNCHECKED static void check_range(const void *p, size_t n) {
  if (!mapped) return; /* the C library copies before the program starts */
  uintptr_t a = (uintptr_t)p;
  if (n && (a < 4096 || a >= 0x800000000000ul)) check_fail("ptr", 0);
  for (size_t i = 0; i < n; i++)
    if (bad_byte(a + i)) check_fail("ptr", 0);
}

#define REPORT(name) void __asan_report_##name(uintptr_t p) { (void)p; check_fail("ptr", 0); }
REPORT(load1) REPORT(load2) REPORT(load4) REPORT(load8) REPORT(load16)
REPORT(store1) REPORT(store2) REPORT(store4) REPORT(store8) REPORT(store16)
void __asan_report_load_n(uintptr_t p, size_t n) { (void)p; (void)n; check_fail("ptr", 0); }
void __asan_report_store_n(uintptr_t p, size_t n) { (void)p; (void)n; check_fail("ptr", 0); }

UNCHECKED void __asan_loadN(uintptr_t p, size_t n) { check_range((void *)p, n); }
UNCHECKED void __asan_storeN(uintptr_t p, size_t n) { check_range((void *)p, n); }
#define ACCESS(n)                                                          \
  UNCHECKED void __asan_load##n(uintptr_t p) { check_range((void *)p, n); } \
  UNCHECKED void __asan_store##n(uintptr_t p) { check_range((void *)p, n); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)

/* Copies made by the program (by these names) and by the C library, whose own code is not instrumented. */

UNCHECKED void *__asan_memmove(void *to, const void *from, size_t n) {
  check_range(from, n);
  check_range(to, n);
  void *d = to;
  if ((uintptr_t)to - (uintptr_t)from >= n) {
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
  } else {
    d = (char *)d + n - 1;
    from = (const char *)from + n - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
  }
  return to;
}
UNCHECKED void *__asan_memcpy(void *to, const void *from, size_t n) {
  uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
  int overlap = mapped && ahead && (ahead < n || -ahead < n);
  __asan_memmove(to, from, n); /* a worse error comes first */
  if (overlap) check_fail("overlap", 0);
  return to;
}
UNCHECKED void *__asan_memset(void *to, int c, size_t n) {
  check_range(to, n);
  void *d = to;
  __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
  return to;
}
UNCHECKED void *memmove(void *to, const void *from, size_t n) { return __asan_memmove(to, from, n); }
UNCHECKED void *memcpy(void *to, const void *from, size_t n) { return __asan_memcpy(to, from, n); }
UNCHECKED void *memset(void *to, int c, size_t n) { return __asan_memset(to, c, n); }

struct global {
  uintptr_t start;
  size_t size, padded;
  const char *name, *module;
  uintptr_t dynamic_init, location, odr;
};
UNCHECKED void __asan_register_globals(struct global *g, size_t n) {
  __asan_init();
  for (size_t i = 0; i < n; i++) usable(g[i].start, g[i].size, g[i].padded, GLOBAL_ZONE);
}
void __asan_unregister_globals(struct global *g, size_t n) { (void)g; (void)n; }
UNCHECKED void __asan_register_elf_globals(uintptr_t *flag, void *start, void *stop) {
  if (*flag) return;
  *flag = 1;
  __asan_register_globals(start, (size_t)((struct global *)stop - (struct global *)start));
}
void __asan_unregister_elf_globals(uintptr_t *flag, void *start, void *stop) { (void)flag; (void)start; (void)stop; }

UNCHECKED void __asan_handle_no_return(void) {
  /* Frames left without a return keep their red zones: clear from here up to the outermost frame. */
  extern int anabranch_frames_left; /* of frames.c */
  anabranch_frames_left = 1;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0), top = stack_top;
  if (here < top) poison(here & ~(GRANULE - 1), (top - here) & ~(GRANULE - 1), 0);
}
#define SET_SHADOW(x) \
  UNCHECKED void __asan_set_shadow_##x(uintptr_t at, size_t n) { \
    for (size_t i = 0; i < n; i++) ((unsigned char *)at)[i] = 0x##x; }
SET_SHADOW(00) SET_SHADOW(f1) SET_SHADOW(f2) SET_SHADOW(f3) SET_SHADOW(f5) SET_SHADOW(f8)
UNCHECKED void __asan_poison_stack_memory(uintptr_t p, size_t n) { poison(p, (n + 7) & ~7ul, 0xf8); }
UNCHECKED void __asan_unpoison_stack_memory(uintptr_t p, size_t n) { usable(p, n, n & ~7ul, 0); if (n & 7) *SHADOW(p + (n & ~7ul)) = n & 7; }
UNCHECKED void __asan_alloca_poison(uintptr_t p, size_t n) {
  size_t padded = (n + 31) & ~31ul;
  poison(p - 32, 32, ALLOCA_ZONE);
  usable(p, n, padded + 32, ALLOCA_ZONE);
}
UNCHECKED void __asan_allocas_unpoison(uintptr_t top, uintptr_t bottom) {
  if (top && top < bottom) poison(top & ~7ul, (bottom - top) & ~7ul, 0);
}

/* Heap: blocks in address order, each with a header in its left zone, never reused. */

struct block { size_t size, magic; };
enum { ZONE = 32 };
static const size_t LIVE = 0x51ab51ab51abul, DEAD = 0xdeaddeaddeadul;
static uintptr_t arena, arena_end;

UNCHECKED void *malloc(size_t size) {
  __asan_init();
  if (size > (1ul << 40)) return 0;
  size_t padded = (size + 15) & ~15ul, need = ZONE + padded + ZONE;
  if (arena + need > arena_end) {
    size_t chunk = need > (64ul << 20) ? need : 64ul << 20;
    void *at = mmap(0, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 0;
    arena = (uintptr_t)at;
    arena_end = arena + chunk;
  }
  uintptr_t p = arena + ZONE;
  struct block *b = (struct block *)(p - sizeof *b);
  b->size = size;
  b->magic = LIVE;
  poison(arena, ZONE, HEAP_ZONE);
  usable(p, size, padded + ZONE, HEAP_ZONE);
  arena += need;
  /* far accesses behind the last block are wrong too */
  poison(arena, arena_end - arena < 4096 ? arena_end - arena : 4096, HEAP_ZONE);
  return (void *)p;
}
UNCHECKED void free(void *q) {
  if (!q) return;
  uintptr_t p = (uintptr_t)q;
  struct block *b = (struct block *)(p - sizeof *b);
  if (p % 16 || *SHADOW(b) != HEAP_ZONE || b->magic != LIVE) check_fail("free", 0);
  b->magic = DEAD;
  poison(p, (b->size + 15) & ~15ul, HEAP_FREED);
}
UNCHECKED void *calloc(size_t n, size_t size) {
  if (size && n > SIZE_MAX / size) return 0;
  void *p = malloc(n * size);
  if (p) memset(p, 0, n * size);
  return p;
}
UNCHECKED void *realloc(void *old, size_t size) {
  void *p = malloc(size);
  if (old && p) {
    size_t had = ((struct block *)((uintptr_t)old - sizeof(struct block)))->size;
    memcpy(p, old, had < size ? had : size);
    free(old);
  }
  return p;
}
void *aligned_alloc(size_t align, size_t size) { (void)align; return malloc(size); }

/* What the program is given: every argument and variable of the environment, and the arrays of pointers to
 * them, have red zones of their own. They are no blocks to be freed. */

static const size_t GIVEN = 0x61f761f761f7ul;
static char **given_environment;

UNCHECKED static void *given(const void *data, size_t size) {
  char *p = malloc(size);
  if (!p) return 0;
  memcpy(p, data, size);
  ((struct block *)(p - sizeof(struct block)))->magic = GIVEN;
  return p;
}
UNCHECKED static long give_strings(char **strings) {
  long n = 0;
  for (; strings[n]; n++) strings[n] = given(strings[n], strlen(strings[n]) + 1);
  return n;
}

/* The shadow memory is there from the first on, the other run-time files take their variables of the
 * environment away at 2, and constructors of the program begin at 101. */
__attribute__((constructor(3))) UNCHECKED static void give_arguments(void) {
  /* The kernel puts argc, the arguments, a null and the environment side by side. */
  long argc = 0;
  while ((long)environ[-2 - argc] != argc) argc++;
  give_strings(environ - 1 - argc);
  long n = give_strings(environ);
  given_environment = environ = given(environ, (size_t)(n + 1) * sizeof *environ);
}

/* Linked with --wrap=main, the program is started here. */
int __real_main(int, char **, char **) __attribute__((weak));
UNCHECKED int __wrap_main(int argc, char **argv, char **envp) {
  (void)envp;
  return __real_main(argc, given(argv, (size_t)(argc + 1) * sizeof *argv), given_environment);
}

/* Replays one test natively: klee.h and the __VERIFIER_ functions over the objects of a .ktest file.
 *
 * The environment variable KTEST_FILE names the test. Its objects are handed out in order; a request whose
 * name or size does not match the next object means that the run took another path than predicted.
 *
 * Exit codes: 97 the test does not fit the run, 98 an assumption is false, 99 the program asked to stop
 * (klee_report_error, klee_silent_exit, reach_error).
 *
 * With -DANABRANCH_FUZZER there is a main() that calls LLVMFuzzerTestOneInput with the objects fuzz_size
 * (8 bytes) and fuzz_data, of which the first fuzz_size bytes count.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISMATCH = 97, ASSUMPTION = 98, STOPPED = 99 };

struct object {
  char *name;
  uint32_t size;
  unsigned char *bytes;
};

static struct object *objects;
static uint32_t object_count, next_object;
static int loaded;

static _Noreturn void bad_test(const char *why) {
  fprintf(stderr, "replay: %s\n", why);
  exit(MISMATCH);
}

static uint32_t read_number(FILE *file) {
  unsigned char b[4];
  if (fread(b, 1, 4, file) != 4) bad_test("the test file ends too soon");
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A counted run of bytes, with a NUL after it. */
static unsigned char *read_counted(FILE *file, uint32_t *size) {
  *size = read_number(file);
  unsigned char *bytes = malloc((size_t)*size + 1);
  if (!bytes) bad_test("out of memory");
  if (fread(bytes, 1, *size, file) != *size) bad_test("the test file ends too soon");
  bytes[*size] = 0;
  return bytes;
}

static void load_test(void) {
  const char *path = getenv("KTEST_FILE");
  if (!path) bad_test("KTEST_FILE is not set");
  FILE *file = fopen(path, "rb");
  if (!file) bad_test("the file that KTEST_FILE names cannot be opened");
  char magic[5];
  if (fread(magic, 1, 5, file) != 5 || memcmp(magic, "KTEST", 5)) bad_test("not a ktest file");
  uint32_t version = read_number(file), size;
  if (version > 3) bad_test("the version of the ktest file is too new");
  for (uint32_t args = read_number(file); args; args--) free(read_counted(file, &size));
  if (version >= 2) read_number(file), read_number(file);
  object_count = read_number(file);
  objects = calloc(object_count ? object_count : 1, sizeof *objects);
  if (!objects) bad_test("out of memory");
  for (uint32_t i = 0; i < object_count; i++) {
    objects[i].name = (char *)read_counted(file, &size);
    objects[i].bytes = read_counted(file, &objects[i].size);
  }
  fclose(file);
  loaded = 1;
}

/* The names x and x_<number> both answer a request for x: a name used again is numbered. An object whose name
 * the input decided has none in the test. */
static int same_name(const char *asked, const char *held) {
  size_t length = strlen(asked);
  if (!strncmp(held, "unnamed", 7)) return 1;
  if (strncmp(asked, held, length)) return 0;
  held += length;
  if (!*held) return 1;
  if (*held++ != '_' || !*held) return 0;
  return held[strspn(held, "0123456789")] == 0;
}

static struct object *take(const char *name) {
  if (!loaded) load_test();
  if (next_object == object_count) {
    fprintf(stderr, "replay: the test has no more objects, '%s' is asked for\n", name);
    exit(MISMATCH);
  }
  struct object *object = &objects[next_object++];
  if (!same_name(name, object->name)) {
    fprintf(stderr, "replay: object '%s' is asked for, the test has '%s'\n", name, object->name);
    exit(MISMATCH);
  }
  return object;
}

static void fill(void *target, size_t size, const char *name) {
  if (!size) return;
  struct object *object = take(name);
  if (object->size != size) {
    fprintf(stderr, "replay: object '%s' is asked for with %zu bytes, the test has %u\n", name, size,
            (unsigned)object->size);
    exit(MISMATCH);
  }
  memcpy(target, object->bytes, size);
}

static void assume(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "replay: %s is false\n", what);
  exit(ASSUMPTION);
}

/* ---- klee.h */

void klee_make_symbolic(void *addr, size_t nbytes, const char *name) {
  fill(addr, nbytes, name && *name ? name : "unnamed");
}

void klee_define_fixed_object(void *addr, size_t nbytes) {
  (void)addr, (void)nbytes;
  bad_test("klee_define_fixed_object cannot be replayed");
}

int klee_int(const char *name) {
  int value;
  klee_make_symbolic(&value, sizeof value, name);
  return value;
}

_Noreturn void klee_report_error(const char *file, int line, const char *message, const char *suffix) {
  fprintf(stderr, "%s:%d: %s (%s)\n", file, line, message, suffix);
  exit(STOPPED);
}

int klee_range(int begin, int end, const char *name) {
  if (begin >= end) klee_report_error("klee_range", 0, "invalid range", "user");
  if (begin + 1 == end) return begin;
  int value = klee_int(name);
  if (value < begin || value >= end) bad_test("the value for klee_range is not in its range");
  return value;
}

uintptr_t klee_choose(uintptr_t n) {
  uintptr_t value;
  assume(n != 0, "klee_choose among nothing");
  fill(&value, sizeof value, "klee_choose");
  if (value >= n) bad_test("the value for klee_choose is not in its range");
  return value;
}

_Noreturn void klee_silent_exit(int status) {
  fprintf(stderr, "klee_silent_exit(%d)\n", status);
  exit(STOPPED);
}

_Noreturn void klee_abort(void) { abort(); }

_Noreturn void klee_assert_fail(const char *expression, const char *file, unsigned line,
                                const char *function) {
  fprintf(stderr, "%s:%u: %s: assertion failed: %s\n", file, line, function, expression);
  fflush(stdout);
  abort();
}

void klee_assume(uintptr_t condition) { assume(condition != 0, "klee_assume"); }

size_t klee_get_obj_size(void *ptr) {
  (void)ptr;
  bad_test("klee_get_obj_size cannot be replayed");
}

void klee_print_expr(const char *message, ...) { (void)message; }
void klee_print_range(const char *name, int arg) { (void)name, (void)arg; }
unsigned klee_is_symbolic(uintptr_t n) { return (void)n, 0; }
unsigned klee_is_replay(void) { return 1; }
void klee_warning(const char *message) { fprintf(stderr, "warning: %s\n", message); }
void klee_warning_once(const char *message) { klee_warning(message); }
void klee_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
void klee_posix_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
void klee_mark_global(void *object) { (void)object; }
float klee_get_valuef(float value) { return value; }
double klee_get_valued(double value) { return value; }
long klee_get_valuel(long value) { return value; }
long long klee_get_valuell(long long value) { return value; }
int32_t klee_get_value_i32(int32_t value) { return value; }
int64_t klee_get_value_i64(int64_t value) { return value; }
void __asan_loadN(uintptr_t address, size_t size) __attribute__((weak)); /* of checks.c, if that is linked */
void klee_check_memory_access(const void *address, size_t size) {
  if (__asan_loadN) __asan_loadN((uintptr_t)address, size);
}
void klee_set_forking(unsigned enable) { (void)enable; }
void klee_stack_trace(void) {}
void klee_open_merge(void) {}
void klee_close_merge(void) {}
void klee_open_qmerge(void) {}
void klee_close_qmerge(void) {}
int klee_get_errno(void) { return errno; }

/* ---- __VERIFIER_: weak, because programs bring some of these themselves */

#define WEAK __attribute__((weak))

#define NONDET(suffix, type)                         \
  WEAK type __VERIFIER_nondet_##suffix(void) {       \
    type value;                                      \
    fill(&value, sizeof value, "nondet_" #suffix);   \
    return value;                                    \
  }

NONDET(char, char)
NONDET(uchar, unsigned char)
NONDET(schar, signed char)
NONDET(short, short)
NONDET(ushort, unsigned short)
NONDET(int, int)
NONDET(uint, unsigned)
NONDET(unsigned, unsigned)
NONDET(long, long)
NONDET(ulong, unsigned long)
NONDET(longlong, long long)
NONDET(ulonglong, unsigned long long)
NONDET(int128, __int128)
NONDET(uint128, unsigned __int128)
NONDET(float, float)
NONDET(double, double)
NONDET(size_t, size_t)
NONDET(loff_t, long long)
NONDET(sector_t, unsigned long)
NONDET(u8, uint8_t)
NONDET(u16, uint16_t)
NONDET(u32, uint32_t)
NONDET(U8, uint8_t)
NONDET(U16, uint16_t)
NONDET(U32, uint32_t)
NONDET(pchar, char *)
NONDET(pointer, void *)
NONDET(pthread_t, unsigned long)
NONDET(time_t, long)
NONDET(clock_t, long)

WEAK _Bool __VERIFIER_nondet_bool(void) {
  unsigned char value;
  fill(&value, sizeof value, "nondet_bool");
  return value != 0;
}

WEAK void __VERIFIER_nondet_memory(void *mem, size_t size) { fill(mem, size, "nondet_memory"); }
WEAK void __VERIFIER_assume(int condition) { assume(condition, "__VERIFIER_assume"); }
WEAK void __VERIFIER_atomic_begin(void) {}
WEAK void __VERIFIER_atomic_end(void) {}

WEAK void reach_error(void) {
  fprintf(stderr, "reach_error() is called\n");
  exit(STOPPED);
}

WEAK void __VERIFIER_error(void) {
  fprintf(stderr, "__VERIFIER_error() is called\n");
  exit(STOPPED);
}

WEAK void __VERIFIER_assert(int condition) {
  if (condition) return;
  fprintf(stderr, "__VERIFIER_assert failed\n");
  fflush(stdout);
  abort();
}

/* ---- libFuzzer's entry */

#ifdef ANABRANCH_FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
WEAK int LLVMFuzzerInitialize(int *argc, char ***argv);

int main(int argc, char **argv) {
  uint64_t size = 0;
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  fill(&size, sizeof size, "fuzz_size");
  uint8_t *data = malloc(size); /* exactly as large, so that a checker sees accesses beyond */
  if (size) {
    struct object *object = take("fuzz_data");
    if (size > object->size) bad_test("fuzz_size is greater than the size of fuzz_data");
    if (!data) bad_test("out of memory");
    memcpy(data, object->bytes, size);
  }
  int status = LLVMFuzzerTestOneInput(data, size);
  free(data);
  return status;
}
#endif

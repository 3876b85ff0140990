/* Runs a generated program on every input in one process and tells how each run ended.
 *
 * A run ends by return, exit or an intended error (longjmp back here); globals are restored from a copy, the heap
 * is an arena that starts afresh. Written to standard output:
 *     classes N       then N lines "kind line code output-in-hex"   (kind "exit" for an ordinary end)
 *     covers N        then N lines of line numbers
 *     paths N
 *     inputs N        then N records of three 32-bit numbers: class, cover, path
 * A path is the sequence of basic blocks entered (clang's coverage callbacks) and its end. Kind "assume" marks inputs
 * that an assumption excludes, kind "unintended-..." undefined behaviour that the generator did not mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int program_main(void);
extern const unsigned oracle_objects, oracle_sizes[], oracle_counts[];
extern unsigned char __start_state[], __stop_state[];

enum { LINES = 4096, OUTPUT = 4096, BLOCKS = 256, ARENA = 1 << 16, TABLE = 1 << 18 };

static jmp_buf end;
static const char *end_kind;
static int end_line, end_code;

static unsigned char output[OUTPUT];
static unsigned output_size;
static unsigned char seen[LINES];
static int touched[LINES], touched_count;
static uint64_t path_hash[2];

static uint64_t current[8];
static unsigned object;

static struct { unsigned char *at; size_t size; int live; } blocks[BLOCKS];
static int block_count;
static _Alignas(16) unsigned char arena[ARENA];
static size_t arena_used;

/* --- paths --- */

static uint32_t guards;
void __sanitizer_cov_trace_pc_guard_init(uint32_t *from, uint32_t *to) {
  for (uint32_t *g = from; g < to; g++) if (!*g) *g = ++guards;
}
void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  path_hash[0] = (path_hash[0] ^ *guard) * 0x100000001b3ull;
  path_hash[1] = (path_hash[1] + *guard) * 0x9e3779b97f4a7c15ull;
  path_hash[1] ^= path_hash[1] >> 29;
}

/* --- ends --- */

__attribute__((noreturn)) void oracle_error(const char *kind, int line) {
  end_kind = kind;
  end_line = line;
  end_code = 0;
  longjmp(end, 1);
}
__attribute__((noreturn)) void oracle_exit(int code) {
  end_kind = "exit";
  end_line = 0;
  end_code = code & 0xff;
  longjmp(end, 1);
}
struct place { const char *file; uint32_t line, column; };
#define HANDLER(name) \
  void __ubsan_handle_##name##_abort(struct place *p) { oracle_error("unintended-" #name, (int)p->line); } \
  void __ubsan_handle_##name(struct place *p) { oracle_error("unintended-" #name, (int)p->line); }
HANDLER(divrem_overflow) HANDLER(shift_out_of_bounds) HANDLER(add_overflow) HANDLER(sub_overflow)
HANDLER(mul_overflow) HANDLER(negate_overflow) HANDLER(out_of_bounds) HANDLER(type_mismatch_v1)
HANDLER(pointer_overflow) HANDLER(vla_bound_not_positive) HANDLER(float_cast_overflow) HANDLER(load_invalid_value)
HANDLER(invalid_builtin) HANDLER(nonnull_arg) HANDLER(function_type_mismatch) HANDLER(builtin_unreachable)
HANDLER(missing_return)

/* --- what the program calls --- */

void oracle_line(int line) {
  if (line < LINES && !seen[line]) {
    seen[line] = 1;
    touched[touched_count++] = line;
  }
}
long long oracle_index(long long index, long long count, int line) {
  if (index < 0 || index >= count) oracle_error("out-of-bounds", line);
  return index;
}
unsigned long long oracle_nonzero(unsigned long long divisor, int line) {
  if (!divisor) oracle_error("division-by-zero", line);
  return divisor;
}
unsigned oracle_shift(unsigned amount, unsigned width, int line) {
  if (amount >= width) oracle_error("overshift", line);
  return amount;
}
static int find_block(const void *p) {
  for (int i = 0; i < block_count; i++)
    if ((unsigned char *)p >= blocks[i].at && (unsigned char *)p < blocks[i].at + blocks[i].size) return i;
  return -1;
}
void *oracle_pointer(const void *p, int line) {
  int i = find_block(p);
  if (!p) oracle_error("null-pointer", line);
  if (i >= 0 && !blocks[i].live) oracle_error("use-after-free", line);
  return (void *)p;
}
/* An element of the array that a pointer leads to the start of: a block of the heap, or `count` elements. */
void *oracle_element(const void *p, long long index, long long size, long long count, int line) {
  int i = find_block(oracle_pointer(p, line));
  if (i >= 0) count = (long long)blocks[i].size / size;
  return (unsigned char *)p + oracle_index(index, count, line) * size;
}
void *oracle_malloc(size_t size) {
  size_t padded = (size + 31) & ~(size_t)15;
  if (block_count == BLOCKS || arena_used + padded > ARENA) oracle_error("unintended-heap", 0);
  unsigned char *at = arena + arena_used;
  arena_used += padded;
  memset(at, 0xa5, size);
  blocks[block_count].at = at;
  blocks[block_count].size = size;
  blocks[block_count++].live = 1;
  return at;
}
void oracle_free(void *p, int line) {
  if (!p) return;
  int i = find_block(p);
  if (i < 0 || blocks[i].at != p) oracle_error("invalid-free", line);
  if (!blocks[i].live) oracle_error("double-free", line);
  blocks[i].live = 0;
}
void oracle_symbolic(void *at, size_t size) {
  if (object >= oracle_objects || size != oracle_sizes[object]) oracle_error("unintended-symbolic", 0);
  memcpy(at, &current[object++], size);
}
void oracle_assume(int condition) {
  if (!condition) oracle_error("assume", 0);
}
int oracle_putchar(int c) {
  if (output_size < OUTPUT) output[output_size++] = (unsigned char)c;
  return (unsigned char)c;
}
int oracle_puts(const char *text) {
  while (*text) oracle_putchar(*text++);
  oracle_putchar('\n');
  return 1;
}
int oracle_printf(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  for (int i = 0; i < n && i < (int)sizeof text - 1; i++) oracle_putchar(text[i]);
  return n;
}

/* --- interning --- */

struct table { uint64_t key[TABLE][2]; uint32_t number[TABLE]; uint32_t count; };
static struct table classes, covers, paths;

static void mix(uint64_t h[2], const void *data, size_t n) {
  const unsigned char *p = data;
  for (size_t i = 0; i < n; i++) {
    h[0] = (h[0] ^ p[i]) * 0x100000001b3ull;
    h[1] = (h[1] + p[i] + 1) * 0x9e3779b97f4a7c15ull;
    h[1] ^= h[1] >> 31;
  }
}
/* The number of a key, and whether it is new. */
static uint32_t intern(struct table *t, const uint64_t h[2], int *fresh) {
  uint32_t i = (uint32_t)(h[0] ^ h[1] >> 7) & (TABLE - 1);
  while (t->number[i]) {
    if (t->key[i][0] == h[0] && t->key[i][1] == h[1]) { *fresh = 0; return t->number[i] - 1; }
    i = (i + 1) & (TABLE - 1);
  }
  t->key[i][0] = h[0];
  t->key[i][1] = h[1];
  t->number[i] = ++t->count;
  *fresh = 1;
  return t->count - 1;
}

static char *class_text, *cover_text;
static size_t class_size, cover_size;
static FILE *class_file, *cover_file;

static uint32_t class_of_run(void) {
  uint64_t h[2] = {1, 2};
  int fresh;
  mix(h, end_kind, strlen(end_kind) + 1);
  mix(h, &end_line, sizeof end_line);
  mix(h, &end_code, sizeof end_code);
  mix(h, output, output_size);
  uint32_t number = intern(&classes, h, &fresh);
  if (fresh) {
    fprintf(class_file, "%s %d %d ", end_kind, end_line, end_code);
    for (unsigned i = 0; i < output_size; i++) fprintf(class_file, "%02x", output[i]);
    fputc('\n', class_file);
  }
  return number;
}
static uint32_t cover_of_run(void) {
  uint64_t h[2] = {0, 0};
  int fresh;
  for (int i = 0; i < touched_count; i++) { /* the sum of hashes does not depend on the order */
    uint64_t one[2] = {3, 4};
    mix(one, &touched[i], sizeof touched[i]);
    h[0] += one[0];
    h[1] += one[1];
  }
  uint32_t number = intern(&covers, h, &fresh);
  if (fresh) {
    for (int i = 0; i < touched_count; i++) fprintf(cover_file, "%d ", touched[i]);
    fputc('\n', cover_file);
  }
  return number;
}
static uint32_t path_of_run(void) {
  uint64_t h[2] = {path_hash[0], path_hash[1]};
  int fresh;
  mix(h, end_kind, strlen(end_kind) + 1);
  mix(h, &end_line, sizeof end_line);
  return intern(&paths, h, &fresh);
}

int main(void) {
  size_t state_size = (size_t)(__stop_state - __start_state);
  unsigned char *initial = malloc(state_size + 1);
  memcpy(initial, __start_state, state_size);
  uint32_t inputs = 1;
  for (unsigned i = 0; i < oracle_objects; i++) inputs *= oracle_counts[i];
  uint32_t *records = malloc(inputs * 3 * sizeof *records);
  class_file = open_memstream(&class_text, &class_size);
  cover_file = open_memstream(&cover_text, &cover_size);
  for (volatile uint32_t n = 0; n < inputs; n++) {
    uint32_t rest = n;
    for (unsigned i = 0; i < oracle_objects; i++) {
      current[i] = rest % oracle_counts[i];
      rest /= oracle_counts[i];
    }
    memcpy(__start_state, initial, state_size);
    output_size = 0;
    object = 0;
    block_count = 0;
    arena_used = 0;
    path_hash[0] = path_hash[1] = 0;
    if (!setjmp(end)) oracle_exit(program_main());
    records[3 * n] = class_of_run();
    records[3 * n + 1] = cover_of_run();
    records[3 * n + 2] = path_of_run();
    for (int i = 0; i < touched_count; i++) seen[touched[i]] = 0;
    touched_count = 0;
  }
  fclose(class_file);
  fclose(cover_file);
  printf("classes %u\n", classes.count);
  fwrite(class_text, 1, class_size, stdout);
  printf("covers %u\n", covers.count);
  fwrite(cover_text, 1, cover_size, stdout);
  printf("paths %u\ninputs %u\n", paths.count, inputs);
  fwrite(records, sizeof *records, 3 * (size_t)inputs, stdout);
  return fflush(stdout) ? 1 : 0;
}

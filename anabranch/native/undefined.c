/* Undefined behaviour in native replay: the run-time half of clang's UndefinedBehaviorSanitizer.
 *
 * A handler is passed a record of the compiler: the place in the source, then types and small numbers. The first
 * check that fails ends the program with one line on stderr that names the kind of error, as the column
 * `native` of `error_kinds.py` has it, and exit code 96:
 *     anabranch-check: KIND LINE
 * Traps and the minimal run-time library pass no record: LINE is 0 then.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

UNCHECKED static size_t append(char *to, size_t at, const char *text) {
  while (*text) to[at++] = *text++;
  return at;
}

__attribute__((noreturn)) UNCHECKED void check_fail(const char *kind, unsigned line) {
  char text[128], digits[12];
  size_t n = append(text, 0, "anabranch-check: "), d = sizeof digits;
  digits[--d] = 0;
  do digits[--d] = (char)('0' + line % 10); while (line /= 10);
  n = append(text, n, kind);
  text[n++] = ' ';
  n = append(text, n, digits + d);
  text[n++] = '\n';
  if (syscall(SYS_write, 2, text, n) < 0) _exit(95); /* a harness may define `write` itself */
  _exit(96);
}

struct place { const char *file; uint32_t line, column; };
struct type { uint16_t kind, detail; char name[]; }; /* kind 0: integer, detail: 2 log2(width) + is it signed */
struct record { struct place place; const struct type *type, *other; };
struct mismatch { struct place place; const struct type *type; unsigned char log_align, action; };

UNCHECKED static int is_signed(const struct type *t) { return t->kind == 0 && (t->detail & 1); }

#define HANDLER(name, kind)                                                                                \
  UNCHECKED void __ubsan_handle_##name##_abort(struct place *p) { check_fail(kind, p->line); }             \
  UNCHECKED void __ubsan_handle_##name(struct place *p) { check_fail(kind, p->line); }                     \
  UNCHECKED void __ubsan_handle_##name##_minimal(void) { check_fail(kind, 0); }                            \
  UNCHECKED void __ubsan_handle_##name##_minimal_abort(void) { check_fail(kind, 0); }
#define DECIDED(name, record, minimal, kind)                                                               \
  UNCHECKED void __ubsan_handle_##name##_abort(record *r, uintptr_t a, uintptr_t b) { (void)a; (void)b; check_fail(kind, r->place.line); } \
  UNCHECKED void __ubsan_handle_##name(record *r, uintptr_t a, uintptr_t b) { (void)a; (void)b; check_fail(kind, r->place.line); } \
  UNCHECKED void __ubsan_handle_##name##_minimal(void) { check_fail(minimal, 0); }                         \
  UNCHECKED void __ubsan_handle_##name##_minimal_abort(void) { check_fail(minimal, 0); }

UNCHECKED static const char *arithmetic(struct record *r) {
  return is_signed(r->type) ? "overflow" : "unsigned-overflow";
}
UNCHECKED static const char *division(struct record *r, uintptr_t divisor) {
  unsigned width = 1u << (r->type->detail >> 1);
  /* A number wider than a register is passed by its address. */
  unsigned __int128 b = r->type->kind ? 0 : width > 64 ? *(unsigned __int128 *)divisor : divisor;
  return b == 0 ? "div" : "overflow";
}
UNCHECKED static const char *shift(struct record *r, uintptr_t count) {
  unsigned width = 1u << (r->type->detail >> 1), of_count = 1u << (r->other->detail >> 1);
  unsigned __int128 b = of_count > 64 ? *(unsigned __int128 *)count : count;
  /* A negative count is a large one. */
  return b >= width ? "overshift" : "shift-base";
}
UNCHECKED static const char *pointer(struct mismatch *m, uintptr_t p) {
  return p && p & ((1ul << m->log_align) - 1) ? "misaligned" : "ptr";
}

DECIDED(add_overflow, struct record, "overflow", arithmetic(r))
DECIDED(sub_overflow, struct record, "overflow", arithmetic(r))
DECIDED(mul_overflow, struct record, "overflow", arithmetic(r))
DECIDED(negate_overflow, struct record, "overflow", arithmetic(r))
DECIDED(divrem_overflow, struct record, "div", division(r, b))
DECIDED(shift_out_of_bounds, struct record, "overshift", shift(r, b))
DECIDED(type_mismatch_v1, struct mismatch, "ptr", pointer(r, a))
HANDLER(type_mismatch, "ptr")
HANDLER(out_of_bounds, "ptr")
HANDLER(pointer_overflow, "pointer-overflow")
HANDLER(vla_bound_not_positive, "vla-bound")
HANDLER(float_cast_overflow, "float-cast")
HANDLER(load_invalid_value, "invalid-value")
HANDLER(invalid_builtin, "invalid-builtin")
HANDLER(implicit_conversion, "implicit-conversion")
HANDLER(nonnull_arg, "nonnull")
HANDLER(nullability_arg, "nonnull")
HANDLER(nonnull_return, "nonnull")
HANDLER(nullability_return, "nonnull")
HANDLER(alignment_assumption, "misaligned")
HANDLER(function_type_mismatch, "exec")
HANDLER(cfi_check_fail, "exec")
/* These are passed the place of the return statement second, and a record that does not begin with one. */
#define RETURNED(name)                                                                                     \
  UNCHECKED void __ubsan_handle_##name##_abort(void *r, struct place *p) { (void)r; check_fail("nonnull", p->line); } \
  UNCHECKED void __ubsan_handle_##name(void *r, struct place *p) { (void)r; check_fail("nonnull", p->line); }
RETURNED(nonnull_return_v1)
RETURNED(nullability_return_v1)
UNCHECKED void __ubsan_handle_builtin_unreachable(struct place *p) { check_fail("unreachable_call", p->line); }
UNCHECKED void __ubsan_handle_missing_return(struct place *p) { check_fail("missing-return", p->line); }
UNCHECKED void __ubsan_handle_builtin_unreachable_minimal_abort(void) { check_fail("unreachable_call", 0); }
UNCHECKED void __ubsan_handle_missing_return_minimal_abort(void) { check_fail("missing-return", 0); }

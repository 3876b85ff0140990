/*
 * Functions that a program under test can call to talk to the engine.
 * Names and signatures are those that programs written for KLEE use.
 */
#ifndef ANABRANCH_KLEE_H
#define ANABRANCH_KLEE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ANABRANCH_NORETURN __attribute__((noreturn))

/* ---- Inputs ---------------------------------------------------------- */

/* Forget the bytes of a whole object: from here on they may be anything. */
void klee_make_symbolic(void *addr, size_t nbytes, const char *name);

/* A new symbolic int, any value or within begin <= result < end. */
int klee_int(const char *name);
int klee_range(int begin, int end, const char *name);

/* A symbolic number; comparing it with 0 .. n-1 gives one path for each. */
uintptr_t klee_choose(uintptr_t n);

/* ---- Conditions ------------------------------------------------------ */

/* Go on only with the inputs that satisfy the condition. */
void klee_assume(uintptr_t condition);

/* Prefer such values when a test is written, where the path leaves a choice. */
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);

/* Report an error at this place if the condition can be false. */
#define klee_assert(expr) \
  ((expr) ? (void)0 : klee_assert_fail(#expr, __FILE__, __LINE__, __func__))
void klee_assert_fail(const char *expr, const char *file, unsigned line,
                      const char *function) ANABRANCH_NORETURN;

/* ---- Ends of a path -------------------------------------------------- */

/* End the path without a test. */
void klee_silent_exit(int status) ANABRANCH_NORETURN;

void klee_abort(void) ANABRANCH_NORETURN;

/* End the path with an error of the program's own; suffix names its kind. */
void klee_report_error(const char *file, int line, const char *message,
                       const char *suffix) ANABRANCH_NORETURN;

/* ---- Questions to the engine ----------------------------------------- */

unsigned klee_is_symbolic(uintptr_t n);

/* Non-zero when the program runs natively on a recorded test. */
unsigned klee_is_replay(void);

/* Size in bytes of the object that ptr is the start of. */
size_t klee_get_obj_size(void *ptr);

/* One value that the argument can have on this path. */
float klee_get_valuef(float expr);
double klee_get_valued(double expr);
long klee_get_valuel(long expr);
long long klee_get_valuell(long long expr);
int32_t klee_get_value_i32(int32_t expr);
int64_t klee_get_value_i64(int64_t expr);

int klee_get_errno(void);

/* ---- Memory ---------------------------------------------------------- */

/* Make nbytes at a fixed address a valid object. */
void klee_define_fixed_object(void *addr, size_t nbytes);

/* Report an error unless all these bytes may be accessed. */
void klee_check_memory_access(const void *address, size_t size);

void klee_mark_global(void *object);

/* ---- Messages -------------------------------------------------------- */

void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_print_expr(const char *msg, ...);
void klee_print_range(const char *name, int arg);
void klee_stack_trace(void);

/* ---- Exploration ----------------------------------------------------- */

/* Off (0): a branch takes one feasible side, the other is not explored. */
void klee_set_forking(unsigned enable);

/* Paths that part between open and close are joined at close. */
void klee_open_merge(void);
void klee_close_merge(void);

/* The same, with quantified path conditions. */
void klee_open_qmerge(void);
void klee_close_qmerge(void);

#ifdef __cplusplus
}
#endif

#endif

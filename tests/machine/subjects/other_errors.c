// Errors other than bad accesses, certain on their paths.
// OPTIONS: -DDEPTH=5000
// EXPECT paths: exit 1 error 24
// EXPECT exit codes: 0
#include <klee/klee.h>
#include <assert.h>
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>

extern void __assert_fail(const char *, const char *, int, const char *) __attribute__((noreturn));
extern void __assert(const char *, const char *, int) __attribute__((noreturn));
extern void __VERIFIER_error(void) __attribute__((noreturn));
extern void reach_error(void);

static jmp_buf buffer;
static void dead_frame(void) { if (setjmp(buffer)) abort(); }
static int forever(int n) { return n + forever(n + 1) + 1; } /* ERROR: stack-overflow NEAR: forever(n= */
static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
static int no_return(int x) { if (x > 5) return 1; __builtin_unreachable(); } /* ERROR: unreachable */
static int data = 5;

int main(void) {
  volatile int zero = 0;
  switch (klee_range(0, 25, "which")) {
  case 0: return 1 / zero; /* ERROR: division-by-zero NEAR: divide by zero */
  case 1: return 1 % zero; /* ERROR: division-by-zero */
  case 2: return (INT_MIN + zero) / (zero - 1); /* ERROR: overflow NEAR: division */
  case 3: return (INT_MIN + zero) % (zero - 1); /* ERROR: overflow */
  case 4: return (int)((LLONG_MIN + zero) / (zero - 1)); /* ERROR: overflow */
  case 5: return 1 << (32 + zero); /* ERROR: overshift */
  case 6: return 1 >> (zero - 1); /* ERROR: overshift */
  case 7: assert(zero == 1); return 0; /* ERROR: assert NEAR: ASSERTION FAIL: zero == 1 */
  case 8: __assert("by hand", "file.c", 3); /* ERROR: assert NEAR: by hand */
  case 9: abort(); /* ERROR: abort */
  case 10: return no_return(zero);
  case 11: ((void (*)(void))(long)zero)(); return 0; /* ERROR: bad-call */
  case 12: ((void (*)(void))(&data + zero))(); return 0; /* ERROR: bad-call */
  case 13: return forever(0);
  case 14: assert(deep(DEPTH) == DEPTH); return 0;
  case 15: dead_frame(); longjmp(buffer, 1); /* ERROR: bad-call NEAR: not live */
  case 16: __builtin_trap(); /* ERROR: abort */
  case 17: __VERIFIER_error(); /* ERROR: reach-error */
  case 18: reach_error(); return 0; /* ERROR: reach-error */
  case 19: klee_assert(zero); return 0; /* ERROR: assert NEAR: zero */
  case 20: klee_abort(); /* ERROR: abort */
  case 21: klee_assume(zero); return 0; /* ERROR: user NEAR: provably false */
  case 22: { int a[2]; klee_make_symbolic(a, 4, "a"); return 0; } /* ERROR: user NEAR: Wrong size */
  case 23: klee_make_symbolic("constant", 9, "c"); return 0; /* ERROR: user NEAR: readonly */
  default: { int i = klee_int("i"); klee_assume(i == 1); klee_assume(i == 2); return 0; } /* ERROR: user */
  }
}

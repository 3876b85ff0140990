// What klee.h offers.
// EXPECT paths: exit 14 error 3
// EXPECT warning: from the program
// EXPECT warning: x:
// EXPECT test: x=0x07000000 which=0x00000000
// EXPECT test: name=0x00 name_1=0x05 which=0x01000000
// EXPECT loss: forking switched off
#include <klee/klee.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int main(void) {
  int x = klee_int("x"), which = klee_range(0, 13, "which");
  switch (which) {
  case 0: klee_prefer_cex(&x, x == 7); return 0;
  case 1: {
    char a, b;
    klee_make_symbolic(&a, 1, "name");
    klee_make_symbolic(&b, 1, "name");
    if (b == 5) return 1;
    return 0;
  }
  case 2: {
    unsigned long n = klee_choose(3);
    if (n == 0) return 10;
    if (n == 1) return 11;
    assert(n == 2);
    return 12;
  }
  case 3: assert(klee_is_symbolic((unsigned)x) && !klee_is_symbolic(5) && !klee_is_replay()); return 0;
  case 4: { int y = klee_get_value_i32(x); if (x == y) return 1; return 0; }
  case 5: klee_warning("from the program"); klee_warning_once("once"); klee_print_expr("x", x); return 0;
  case 6: klee_report_error(__FILE__, 34, "my own", "mine.err"); /* ERROR: report-error NEAR: suffix: mine.err */
  case 7: { char *p = malloc(12); assert(klee_get_obj_size(p) == 12); klee_check_memory_access(p, 12); return 0; }
  case 8: { char *p = malloc(12); klee_check_memory_access(p, 13); return 0; } /* ERROR: invalid-pointer */
  case 9: klee_silent_exit(3);
  case 10: klee_open_merge(); if (x > 3) x = 1; else x = 2; klee_close_merge(); return 0;
  case 11: klee_set_forking(0); if (x > 3) return 1; return 1;
  default:
    errno = 5;
    assert(klee_get_errno() == 5);
    klee_print_range("x", x);
    klee_stack_trace();
    klee_assume((x > 10) & (x < 12));
    assert(x == 11);
    if (which == 12) klee_make_symbolic((char *)&x + 1, 3, "part"); /* ERROR: invalid-pointer */
    return 0;
  }
}

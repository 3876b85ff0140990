/* A value that is uninitialised for some inputs only: an error for these, and the others go on.
   EXPECT paths: exit 4 error 2
   EXPECT exit codes: 0 1 2 3 */
#include <klee/klee.h>

int main(void) {
  unsigned i;
  char part[4];
  int table[4] = {5, 6, 7, 8};
  klee_make_symbolic(&i, sizeof i, "i");
  klee_assume(i < 8);
  part[0] = 1, part[1] = 2;
  if (i < 4) {
    if (part[i] == 1) return 1; /* ERROR: uninitialised */
    return 0;
  }
  if (table[part[i - 4] & 3] == 6) return 2; /* ERROR: uninitialised */
  return 3;
}

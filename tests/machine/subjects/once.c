// An error is reported once a place, however many paths meet it; each path still counts.
// EXPECT paths: exit 0 error 4
#include <klee/klee.h>
#include <assert.h>

int main(void) {
  volatile int zero = 0;
  int n = klee_range(0, 4, "n");
  if (n & 1) zero = 0;
  if (n & 2) zero = 0;
  return 1 / zero; /* ERROR: division-by-zero */
}

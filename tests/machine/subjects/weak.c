/* A weak function or variable that nobody defines has the address null. EXPECT paths: exit 2 error 3 */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include "klee/klee.h"

extern int hook(int) __attribute__((weak));
extern int level __attribute__((weak));
extern void *calloc(size_t, size_t) __attribute__((weak));
extern int abs(int) __attribute__((weak));

static int (*table[])(int) = {hook, abs};
static int *address = &level;

int main(void) {
  unsigned char x;
  klee_make_symbolic(&x, sizeof x, "x");
  assert(hook == NULL && &level == NULL && table[0] == NULL && address == NULL);
  assert(calloc != NULL && table[1](-3) == 3);
  if (x == 0)
    return hook ? hook(1) : 0;
  if (x == 1)
    return hook(2); /* ERROR: bad-call NEAR: null function pointer */
  if (x == 2)
    return table[0](2); /* ERROR: bad-call NEAR: null function pointer */
  if (x == 3)
    return level; /* ERROR: null-pointer */
  return 0;
}

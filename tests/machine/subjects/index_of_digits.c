// A number that is read from its digits is an index: the constant part of `p + n` lies gigabytes below `p`, where
// other objects are, some of them freed.
// OPTIONS: --check memtrack
// EXPECT paths: exit 3 error 1
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

static char *kept;

int main(void) {
  char *before[16];
  for (int i = 0; i < 16; i++)
    before[i] = malloc(40);
  for (int i = 0; i < 8; i++)
    free(before[i]);
  unsigned char high, low;
  klee_make_symbolic(&high, sizeof high, "high");
  klee_make_symbolic(&low, sizeof low, "low");
  klee_assume(high - '0' < 10u);
  klee_assume(low - '0' < 10u);
  unsigned long n = ((unsigned long)high - '0') * 1000000000 + ((unsigned long)low - '0') * 5;
  char *p = malloc(25);
  memset(p, 7, 25);
  for (int i = 8; i < 16; i++)
    free(before[i]);
  if (n > 25) {
    free(p);
    return 0;
  }
  kept = p + n;
  *kept += 1; /* ERROR: out-of-bounds NEAR: of 25 bytes */
  if (n == 0)
    free(kept);
  return n == 0;
}

/* Wrong calls of klee_make_symbolic are errors of the user, with sizes. EXPECT paths: exit 2 error 5 */
#include <stdlib.h>

void klee_make_symbolic();
int klee_int();

int main(void) {
  char a[8];
  int x = klee_int("x");
  unsigned long n = klee_int("n");
  switch (x) {
  case 0:
    klee_make_symbolic(a, 4ul, "a"); /* ERROR: user NEAR: 4 bytes instead of the 8 bytes of the object */
    return 0;
  case 1:
    klee_make_symbolic(a, 8ul); /* ERROR: user NEAR: called with 2 arguments instead of 3 */
    return 0;
  case 2:
    klee_make_symbolic(a + 1, 7ul, "a"); /* ERROR: invalid-pointer */
    return 0;
  case 3:
    if (n < 9)
      return 0;
    klee_make_symbolic(a, n, "a"); /* ERROR: user NEAR: not always the 8 bytes of the object */
    return 0;
  case 4:
    klee_make_symbolic(malloc(4), 8ul, "a"); /* ERROR: user NEAR: 8 bytes instead of the 4 bytes */
    return 0;
  }
  return 0;
}

// Operations on constants that are wrong are found although clang folds them; others are checked once.
// EXPECT paths: exit 5 error 9
#include <klee/klee.h>

int main(void) {
  unsigned char x;
  int y;
  long z;
  klee_make_symbolic(&x, 1, "x");
  klee_make_symbolic(&y, 4, "y");
  klee_make_symbolic(&z, 8, "z");
  switch (x) {
  case 1: { int v = 10 / 0; break; } /* ERROR: division-by-zero */
  case 2: { unsigned v = 1u << 32; break; } /* ERROR: overshift NEAR: shift by 32 */
  case 3: { int v = 7 >> 40; break; } /* ERROR: overshift */
  case 4: { int v = 1; v /= 0; break; } /* ERROR: division-by-zero */
  case 5: { int v = y / (int)z; break; } /* ERROR: division-by-zero ERROR: overflow */
  case 6: { int v = y << z; break; } /* ERROR: overshift */
  case 7: { int v = y << 3; break; }
  case 8: { int v = y >> x; break; }
  case 9: { int v = y % 0; break; } /* ERROR: division-by-zero */
  case 10: { unsigned v = y; v <<= 33; break; } /* ERROR: overshift */
  }
  return 0;
}

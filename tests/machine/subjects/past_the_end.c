/* Arguments that were not passed, elements that a vector does not have, arrays larger than the stack. EXPECT paths: exit 6 error 9 */
#include <stdarg.h>

int klee_int(const char *name);
typedef int four __attribute__((vector_size(16)));

static int ints(int n, ...) {
  va_list list;
  va_start(list, n);
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += va_arg(list, int); /* ERROR: out-of-bounds */
  va_end(list);
  return sum;
}

static double doubles(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  while (n-- > 0)
    sum += va_arg(list, double); /* ERROR: out-of-bounds */
  va_end(list);
  return sum;
}

int main(void) {
  int x = klee_int("x"), n = klee_int("n");
  four v = {1, 2, 3, 4};
  switch (x) {
  case 0: return ints(3, 1, 2);
  case 1: ints(3, 1, 2); return 0;
  case 2: return ints(8, 1, 2, 3, 4, 5, 6, 7);
  case 3: return ints(7, 1, 2, 3, 4, 5, 6, 7) == 28;
  case 4: return doubles(2, 1.0) > 0;
  case 5: return doubles(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.) == 55;
  case 6: return ints(1, 1.5);
  case 7: return v[n & 7]; /* ERROR: out-of-bounds NEAR: of a vector of 4 */
  case 8: v[n & 7] = 5; return v[0]; /* ERROR: out-of-bounds NEAR: of a vector of 4 */
  case 9: { unsigned long many = 1ul << 33; char a[many]; a[0] = 1; return a[0]; } /* ERROR: stack-overflow */
  case 10: if (n >= 0) return 0; else { char a[n]; a[0] = 1; return a[0]; } /* ERROR: stack-overflow */
  }
  return 0;
}

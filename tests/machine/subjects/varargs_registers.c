// Arguments saved from registers, and 128-bit ones.
// EXPECT paths: exit 1 error 0
// EXPECT output: "7 42 1234 12"
#include <stdarg.h>
#include <stdio.h>

static int control(int descriptor, int command, ...) {
  va_list ap;
  va_start(ap, command);
  unsigned long argument = va_arg(ap, unsigned long);
  va_end(ap);
  return command == 1 ? descriptor : (int)argument;
}

static long digits(int n, ...) {
  va_list ap;
  long total = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++) total = total * 10 + (long)va_arg(ap, __int128);
  va_end(ap);
  return total;
}

int main(void) {
  __int128 a = 1, b = 2, c = 3, d = 4;
  printf("%d %d ", control(7, 1, 0L), control(7, 2, 42L));
  printf("%ld %ld", digits(4, a, b, c, d), digits(2, a, b));
  return 0;
}

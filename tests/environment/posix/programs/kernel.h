/* System calls without a C library: extern functions, modelled by the engine, in assembly natively. */
#ifndef KERNEL_H
#define KERNEL_H
long __syscall0(long n);
long __syscall1(long n, long a);
long __syscall2(long n, long a, long b);
long __syscall3(long n, long a, long b, long c);
long __syscall4(long n, long a, long b, long c, long d);
long __syscall5(long n, long a, long b, long c, long d, long e);
long __syscall6(long n, long a, long b, long c, long d, long e, long f);

#define CALL1(n, a) __syscall1(n, (long)(a))
#define CALL2(n, a, b) __syscall2(n, (long)(a), (long)(b))
#define CALL3(n, a, b, c) __syscall3(n, (long)(a), (long)(b), (long)(c))
#define CALL4(n, a, b, c, d) __syscall4(n, (long)(a), (long)(b), (long)(c), (long)(d))
#define CALL5(n, a, b, c, d, e) __syscall5(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define CALL6(n, a, b, c, d, e, f) \
  __syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static void put_text(const char *text) {
  long n = 0;
  while (text[n]) n++;
  CALL3(1, 1, text, n);
}

static void show(const char *what, long value) {
  char digits[32];
  int at = 31, negative = value < 0;
  unsigned long rest = negative ? -(unsigned long)value : (unsigned long)value;
  put_text(what);
  put_text(" ");
  digits[at] = 0;
  do digits[--at] = '0' + rest % 10;
  while (rest /= 10);
  if (negative) digits[--at] = '-';
  put_text(digits + at);
  put_text("\n");
}
#endif

// Variable arguments as clang lowers them for x86-64: all classes, many, structs, va_copy, lists passed on.
// EXPECT paths: exit 3 error 0
#include <klee/klee.h>
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct small { int a, b; };
struct mixed { long n; double d; };
struct large { long v[5]; };

static long sum(int n, ...) {
  va_list ap;
  long total = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++) total += va_arg(ap, int);
  va_end(ap);
  return total;
}

static double kinds(const char *format, ...) {
  va_list ap, again;
  double total = 0;
  va_start(ap, format);
  va_copy(again, ap);
  for (int round = 0; round < 2; round++) {
    for (const char *f = format; *f; f++) {
      va_list *list = round ? &again : &ap;
      switch (*f) {
      case 'i': total += va_arg(*list, int); break;
      case 'l': total += (double)va_arg(*list, long long); break;
      case 'u': total += va_arg(*list, unsigned); break;
      case 'd': total += va_arg(*list, double); break;
      case 's': total += (double)strlen(va_arg(*list, char *)); break;
      case 'S': { struct small s = va_arg(*list, struct small); total += s.a + 10 * s.b; break; }
      case 'M': { struct mixed m = va_arg(*list, struct mixed); total += (double)m.n + m.d; break; }
      case 'L': { struct large l = va_arg(*list, struct large); total += (double)(l.v[0] + l.v[4]); break; }
      }
    }
  }
  va_end(again);
  va_end(ap);
  return total;
}

static int passed_on(va_list ap) { int a = va_arg(ap, int); return a * 100 + va_arg(ap, int); }
static int passes(int unused, ...) {
  va_list ap;
  va_start(ap, unused);
  int r = passed_on(ap);
  r += va_arg(ap, int);
  va_end(ap);
  return r;
}

static int formats(char *out, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  int n = vsprintf(out, format, ap);
  va_end(ap);
  return n;
}

static int no_arguments(int x, ...) { return x; }

int main(void) {
  assert(sum(0) == 0 && sum(3, 1, 2, 3) == 6 && sum(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -66) == 0);
  assert(kinds("iii", 1, 2, 3) == 12);
  assert(kinds("id", -1, 2.5) == 3);
  assert(kinds("ddddddddddi", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 5) == 120);
  assert(kinds("iluds", -7, 1ll << 40, 4000000000u, 0.5, "four") == 2 * (-7 + 1099511627776.0 + 4000000000.0 + 4.5));
  struct small s = {1, 2};
  struct mixed m = {7, 0.25};
  struct large l = {{1, 2, 3, 4, 5}};
  assert(kinds("SMLi", s, m, l, 9) == 2 * (21 + 7.25 + 6 + 9));
  assert(kinds("LSLM", l, s, l, m) == 2 * (6 + 21 + 6 + 7.25));
  assert(passes(0, 3, 4, 5) == 309);
  double (*pointer)(const char *, ...) = kinds;
  assert(pointer("Ld", l, 1.5) == 15);
  char text[64];
  assert(formats(text, "%d-%s-%c-%5.2f", 42, "x", 'y', 3.14159) == 12 && !strcmp(text, "42-x-y- 3.14"));
  assert(no_arguments(4, 5, 6.0) == 4);
  int x = klee_int("x");
  if (x > 1000) {
    klee_assume(x < 2000000000);
    assert(sum(2, x, 1) == (long)x + 1);
    return 0;
  }
  if (x > 0) assert(passes(0, x, x, x) == 102 * x);
  return 0;
}

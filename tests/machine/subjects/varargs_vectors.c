// Structs of floats are passed as vectors, a 128-bit number in two registers: both or none.
// EXPECT paths: exit 1 error 0
// EXPECT output: "pd: 4.5 fdi: 15.5 ffffdip: 51.5 mmmmmmm: 77.0 vdvf: 21.5 bib: 13.0 iiiiibi: 23.0 10.0"
#include <emmintrin.h>
#include <stdarg.h>
#include <stdio.h>

struct pair { float a, b; };
struct four { float a, b, c, d; };
struct mixed { float a; int n; double d; };

static void sum(const char *kinds, ...) {
  va_list ap;
  double total = 0;
  va_start(ap, kinds);
  for (const char *kind = kinds; *kind; kind++) {
    switch (*kind) {
    case 'p': { struct pair p = va_arg(ap, struct pair); total += p.a + p.b; break; }
    case 'f': { struct four f = va_arg(ap, struct four); total += f.a + f.b + f.c + f.d; break; }
    case 'm': { struct mixed m = va_arg(ap, struct mixed); total += m.a + m.n + m.d; break; }
    case 'v': { __m128 v = va_arg(ap, __m128); total += v[0] + v[3]; break; }
    case 'b': total += (double)va_arg(ap, __int128); break;
    case 'd': total += va_arg(ap, double); break;
    default: total += va_arg(ap, int);
    }
  }
  va_end(ap);
  printf("%s: %.1f ", kinds, total);
}

static double behind(struct pair p, struct four f, __m128 v, const char *kinds, ...) {
  va_list ap;
  double total = p.a - f.d + v[1];
  va_start(ap, kinds);
  for (; *kinds; kinds++) total += *kinds == 'd' ? va_arg(ap, double) : va_arg(ap, int);
  va_end(ap);
  return total;
}

int main(void) {
  struct pair p = {1.5, 2};
  struct four f = {1, 2, 3, 4.5};
  struct mixed m = {1.5, 7, 2.5};
  __m128 v = {1, 2, 3, 4};
  __int128 b = 5;
  sum("pd", p, 1.0);
  sum("fdi", f, 2.0, 3);
  sum("ffffdip", f, f, f, f, 2.0, 4, p);
  sum("mmmmmmm", m, m, m, m, m, m, m);
  sum("vdvf", v, 1.0, v, f);
  sum("bib", b, 3, b);
  sum("iiiiibi", 1, 2, 3, 4, 5, b, 3);
  printf("%.1f", behind(p, f, v, "ddi", 1.0, 2.0, 8));
  return 0;
}

// Calls through pointers, tables, symbolic pointers; other prototypes than the definition's; structs by value.
// EXPECT paths: exit 9 error 0
#include <klee/klee.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct small { char c; short s; };
struct pair { long a; double b; };
struct large { int v[20]; char tail; };
struct floats { float x, y, z; };

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const table[3])(int, int) = {add, sub, mul};
static long widen(long x) { return x; }
static void nothing(void) {}

static struct small make_small(int n) { struct small r = {(char)n, (short)(n * 100)}; return r; }
static struct pair make_pair(long a) { struct pair r = {a, (double)a / 2}; return r; }
static struct large make_large(int n) {
  struct large r;
  for (int i = 0; i < 20; i++) r.v[i] = n + i;
  r.tail = 'z';
  return r;
}
static int take_small(struct small s) { s.c++; return s.c + s.s; }
static long take_pair(struct pair p) { p.a *= 2; return p.a + (long)p.b; }
static int take_large(struct large l, int i) { l.v[0] = -1; return l.v[i] + l.tail; }
static float take_floats(struct floats f) { return f.x + f.y * f.z; }
static int take_two(struct large a, struct large b) { a.v[1] = b.v[1]; return a.v[1] - b.v[1] + a.v[2]; }

static void by_value(int (*large_by_pointer)(struct large, int)) {
  struct small s = make_small(5);
  assert(s.c == 5 && s.s == 500 && take_small(s) == 506 && s.c == 5);
  struct pair p = make_pair(10);
  assert(p.a == 10 && p.b == 5.0 && take_pair(p) == 25 && p.a == 10);
  struct large l = make_large(3);
  assert(l.v[0] == 3 && l.v[19] == 22 && l.tail == 'z');
  assert(take_large(l, 0) == -1 + 'z' && take_large(l, 2) == 5 + 'z' && l.v[0] == 3);
  assert(large_by_pointer(l, 0) == -1 + 'z' && l.v[0] == 3);
  assert(large_by_pointer(l, 1) == 4 + 'z' && l.v[0] == 3);
  struct large m = make_large(50);
  assert(take_two(l, m) == 5 && l.v[1] == 4);
  struct floats f = {1.5f, 2.0f, 3.0f};
  assert(take_floats(f) == 7.5f);
  struct large (*maker)(int) = make_large;
  assert(maker(9).v[4] == 13 && make_large(1).tail == 'z');
  struct pair (*pairs)(long) = make_pair;
  assert(pairs(8).b == 4.0);
}

static int old_style();
static int calls_old(void) { return old_style(3, 4) + ((int (*)(int, int))old_style)(1, 1); }
static int old_style(int a, int b) { return 10 * a + b; }

static int (*choose(int n))(int, int) { return n == 0 ? add : n == 1 ? sub : mul; }

static int compare(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int apply(int (*f)(const void *, const void *), char a, char b) { return f(&a, &b); }

int main(void) {
  by_value(take_large);
  int (*(*pick)(int))(int, int) = choose;
  assert(pick(0)(7, 3) == 10 && (*pick(1))(7, 3) == 4 && (**pick)(2)(7, 3) == 21);
  assert(table[2](6, 7) == 42 && calls_old() == 45);
  assert(((int (*)(int, int, int))(void *)add)(1, 2, 99) == 3);
  assert(((int (*)(long, long))(void *)add)(5, 6) == 11);
  assert((int)((long (*)(int))(void *)widen)(77) == 77);
  ((void (*)(int))(void *)nothing)(1);
  ((void (*)(int, int))(void *)add)(1, 2);
  assert(apply(compare, 'b', 'a') == 1);
  size_t (*length)(const char *) = strlen;
  assert(length("four") == 4);
  int (*number)(const char *) = atoi;
  assert(number("-12") == -12);

  int x = klee_int("x");
  switch (klee_range(0, 4, "which")) {
  case 0: {
    unsigned i = (unsigned)klee_range(0, 3, "i");
    int r = table[i](10, 5);
    assert(i == 0 ? r == 15 : i == 1 ? r == 5 : r == 50);
    return 0;
  }
  case 1: {
    int (*f)(int, int) = x > 0 ? add : sub;
    assert(f(x, 1) != x);
    return 0;
  }
  case 2: {
    struct large l = make_large(0);
    l.v[3] = x;
    assert(take_large(l, 3) == x + 'z');
    struct large copy = l;
    copy.v[3]++;
    assert(l.v[3] == x && copy.v[3] == (int)((unsigned)x + 1));
    return 0;
  }
  default: {
    char s[4];
    klee_make_symbolic(s, sizeof s, "s");
    s[3] = 0;
    klee_assume(s[0] != 0);
    size_t n = length(s);
    assert(n == 1 ? s[1] == 0 : n == 2 ? s[2] == 0 : n == 3);
    return 0;
  }
  }
}

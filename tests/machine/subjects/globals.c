// Initialisers with constant expressions, tables, aliases, tentative definitions, statics, odd pointers.
// EXPECT paths: exit 6 error 0
#include <klee/klee.h>
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct item { const char *name; int (*run)(int); struct item *next; short tag[3]; };
static int twice(int x) { return 2 * x; }
static int minus(int x) { return -x; }
static int array[10] = {0, 1, 2, [7] = 77};
static int *middle = &array[5];
static int *past = array + 10;
static char *inside = (char *)&array[2] + 1;
static struct item items[3] = {
    {"first", twice, &items[1], {1, 2, 3}},
    {"second", minus, &items[2], {4}},
    {.name = "third" + 2, .run = twice, .tag = {[2] = 9}},
};
static const char *const names[] = {"zero", "one", "two"};
static char grid[2][3][4] = {{"abc", "def", "ghi"}, {"jkl", "mno", "pq"}};
static uintptr_t number = (uintptr_t)&array[3];
static ptrdiff_t distance = offsetof(struct item, tag) + sizeof(struct item);
static double values[] = {1.5, -0.0, 1e300, 1.0 / 3};
static float single = 0.1f;
static union { int i; float f; unsigned char b[4]; } overlay = {.f = 1.0f};
static struct { unsigned a : 5, b : 11; int : 0; unsigned c : 1; } bits = {17, 1025, 1};
int tentative;
int tentative;
static int (*dispatch[2])(int) = {twice, minus};
extern int other_name(int) __attribute__((alias("real_name")));
int real_name(int x) { return x + 100; }
extern int aliased_data __attribute__((alias("real_data")));
int real_data = 55;
static __int128 huge = (__int128)1 << 100;
static _Bool flags[3] = {1, 0, 1};
static char *volatile odd;

static int counter(void) { static int n = 40; return ++n; }

int main(void) {
  assert(array[7] == 77 && array[9] == 0 && *middle == 0 && past - array == 10);
  assert(inside == (char *)array + 9 && number == (uintptr_t)(array + 3));
  assert(!strcmp(items[0].name, "first") && !strcmp(items[2].name, "ird") && items[0].next->next == &items[2]);
  assert(items[0].run(21) == 42 && items[1].run(5) == -5 && items[2].tag[2] == 9 && items[2].next == NULL);
  assert(!strcmp(names[2], "two") && grid[1][2][1] == 'q' && grid[0][1][3] == 0 && !strcmp(grid[1][0], "jkl"));
  assert(distance == (ptrdiff_t)(offsetof(struct item, tag) + sizeof(struct item)));
  assert(values[0] == 1.5 && values[2] > 1e299 && values[3] * 3 == 1.0 && single != 0.1 && 1 / values[1] < 0);
  assert(overlay.i == 0x3f800000 && overlay.b[3] == 0x3f);
  assert(bits.a == 17 && bits.b == 1025 && bits.c == 1 && tentative == 0);
  assert(dispatch[1](3) == -3 && other_name(1) == 101 && aliased_data == 55);
  aliased_data = 56;
  assert(real_data == 56 && counter() == 41 && counter() == 42);
  assert(huge >> 100 == 1 && flags[0] && !flags[1]);
  bits.b = 3;
  assert(bits.a == 17 && bits.b == 3 && bits.c == 1);
  odd = NULL;
  odd -= 1;
  assert(odd != NULL && (uintptr_t)odd == ~0ull);
  odd = (char *)array - 8;
  assert(odd + 8 == (char *)array && odd < (char *)array);
  int i = klee_range(0, 3, "i");
  assert(items[i].run(1) == (i == 1 ? -1 : 2));
  overlay.i = klee_int("bits");
  if (overlay.b[0] == 0xff && overlay.b[3] == 0x80) assert((overlay.i & 0xff0000ff) == 0x800000ff);
  return 0;
}

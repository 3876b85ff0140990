// Symbolic pointers: indices read and written, two dimensions, odd strides, choices between objects, tables.
// EXPECT paths: exit 25 error 0
#include <klee/klee.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct odd { char c; short s; char t[4]; };
static const unsigned char squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
static int plain[8] = {10, 11, 12, 13, 14, 15, 16, 17};
static int grid[4][5];
static struct odd odds[5];
static unsigned char large[4096];
static struct odd copy_of(struct odd *p) { return *p; }

int main(void) {
  unsigned i = (unsigned)klee_range(0, 4, "i"), j = (unsigned)klee_range(0, 5, "j");
  unsigned char c;
  klee_make_symbolic(&c, sizeof c, "c");
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 5; b++) grid[a][b] = 10 * a + b;
  for (int a = 0; a < 5; a++) odds[a].c = (char)a, odds[a].s = (short)(100 * a), odds[a].t[3] = (char)-a;
  switch (klee_range(0, 19, "which")) {
  case 0: assert(squares[c & 15] == (c & 15) * (c & 15)); return 0;
  case 1: assert(plain[i] == 10 + (int)i && plain[7 - i] == 17 - (int)i); return 0;
  case 2: assert(grid[i][j] == (int)(10 * i + j)); return 0;
  case 3: grid[i][j] = 99; assert(grid[i][j] == 99 && (grid[0][0] == 99) == (i == 0 && j == 0)); return 0;
  case 4: assert(odds[j].s == (short)(100 * j) && odds[j].t[3] == -(char)j && odds[j].c == (char)j); return 0;
  case 5: odds[j].s = 7; assert(odds[0].s == (j == 0 ? 7 : 0) && odds[j].c == (char)j && odds[4].t[3] == -4); return 0;
  case 6: { /* one of two objects */
    int other[8] = {0};
    int *p = (c & 1 ? plain : other) + i;
    assert(*p == (c & 1 ? 10 + (int)i : 0));
    *p = 5;
    assert(other[i] + plain[i] == (c & 1 ? 5 : 15 + (int)i));
    return 0;
  }
  case 7: { /* a table of pointers */
    int *rows[4] = {grid[3], grid[1], plain, grid[0]};
    assert(rows[i][1] == (i == 0 ? 31 : i == 1 ? 11 : i == 2 ? 11 : 1));
    return 0;
  }
  case 8: large[c * 16] = 1; assert(large[c * 16] == 1 && large[c * 16 + 1] == 0); return 0;
  case 9: { /* written, then read elsewhere */
    char text[8] = "abcdefg";
    text[i] = 'X';
    text[j] = 'Y';
    assert(text[i] == (i == j ? 'Y' : 'X') && text[j] == 'Y' && text[7] == 0);
    return 0;
  }
  case 10: { struct odd o = odds[j]; assert(o.s == (short)(100 * j) && o.c == (char)j); return 0; }
  case 11: { struct odd o = {9, 9, {0}}; odds[i] = o; assert(odds[i].s == 9 && odds[4].s == 400); return 0; }
  case 12: assert(copy_of(&odds[i]).s == (short)(100 * i)); return 0;
  case 13: { int *p = plain + i; assert(p - plain == (int)i && p >= plain && p < plain + 4 && p != plain + 5); return 0; }
  case 14: { /* a wide value at every byte */
    unsigned char bytes[12];
    for (int k = 0; k < 12; k++) bytes[k] = (unsigned char)k;
    unsigned v;
    memcpy(&v, bytes + i, 4);
    assert((v & 0xff) == i && v >> 24 == i + 3);
    return 0;
  }
  case 15: { /* strides that are no power of two, from below */
    struct three { int a, b, c; } threes[5];
    for (int k = 0; k < 5; k++) threes[k].a = k, threes[k].b = 10 * k, threes[k].c = 100 * k;
    klee_assume(j > 0);
    assert(threes[j - 1].b == 10 * ((int)j - 1) && threes[(int)j - 1].c == 100 * ((int)j - 1));
    assert((threes + j)[-1].b == 10 * ((int)j - 1));
    threes[(int)j - 1].a = -1;
    assert(threes[j - 1].a == -1 && threes[4].a == 4);
    return 0;
  }
  case 16: { int *end = plain + 8; assert(end[-1 - (int)i] == 17 - (int)i); return 0; }
  case 17: { /* an index of its own width */
    signed char k = (signed char)(c | 0x80);
    klee_assume(k > -9);
    assert((plain + 8)[k] == 18 + k);
    return 0;
  }
  default: {
    char *heap = malloc(16);
    memset(heap, 0, 16);
    heap[c & 15] = (char)c;
    char sum = 0;
    for (int k = 0; k < 16; k++) sum = (char)(sum | heap[k]);
    assert(sum == (char)c);
    free(heap);
    return 0;
  }
  }
}

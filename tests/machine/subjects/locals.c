// Allocas in loops, variable length arrays, the stack saved and restored, alloca, locals of recursion.
// EXPECT paths: exit 4 error 0
#include <klee/klee.h>
#include <alloca.h>
#include <assert.h>
#include <string.h>

static int vla(int n) {
  int total = 0;
  for (int round = 1; round <= n; round++) {
    int a[round][2];
    for (int i = 0; i < round; i++) a[i][0] = i, a[i][1] = round;
    total += a[round - 1][0] + a[round - 1][1];
    assert(sizeof a == (size_t)round * 2 * sizeof(int));
  }
  return total;
}

static int in_loop(int n) {
  int *kept[8], total = 0;
  for (int i = 0; i < n; i++) {
    int *p = alloca(sizeof(int));
    *p = i * i;
    kept[i] = p;
  }
  for (int i = 0; i < n; i++) {
    total += *kept[i];
    for (int j = 0; j < i; j++) assert(kept[i] != kept[j]);
  }
  return total;
}

static int depth(int n, int *outer) {
  int mine = n;
  if (n == 0) return *outer;
  int below = depth(n - 1, &mine);
  assert(mine == n);
  return below + (outer ? *outer : 0);
}

int main(void) {
  assert(vla(4) == 16 && in_loop(8) == 140 && depth(5, 0) == 15);
  int n = klee_range(1, 5, "n");
  if (n < 3) {
    assert(vla(n) == n * n);
    return 0;
  }
  char buffer[n];
  memset(buffer, 'x', (size_t)n);
  assert(buffer[n - 1] == 'x');
  assert(in_loop(n) == (n == 3 ? 5 : 14));
  return 0;
}

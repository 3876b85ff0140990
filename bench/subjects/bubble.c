/* Bubble sort of N symbolic bytes: every order of the input is a path of its own, N! of them. */
#include "klee/klee.h"

#ifndef N
#define N 7
#endif

static unsigned char items[N];

static void sort(unsigned char *v, int count) {
  for (int last = count - 1; last > 0; last--)
    for (int i = 0; i < last; i++)
      if (v[i] > v[i + 1]) {
        unsigned char held = v[i];
        v[i] = v[i + 1];
        v[i + 1] = held;
      }
}

int main(void) {
  klee_make_symbolic(items, sizeof items, "items");
  sort(items, N);
  for (int i = 0; i + 1 < N; i++)
    klee_assert(items[i] <= items[i + 1]);
  return 0;
}

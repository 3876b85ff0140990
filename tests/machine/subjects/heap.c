// The malloc family; one object stands for all symbolic sizes, or they fail.
// EXPECT paths: exit 4 error 0
#include <klee/klee.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char *a = malloc(10), *z = malloc(0), *c = calloc(3, 4);
  assert(a && z && c && a != z);
  free(z);
  for (int i = 0; i < 12; i++) assert(c[i] == 0);
  strcpy(a, "kept");
  a = realloc(a, 1000);
  assert(!strcmp(a, "kept"));
  a = realloc(a, 5);
  assert(!strcmp(a, "kept"));
  free(a);
  free(c);
  free(NULL);
  assert(malloc((size_t)1 << 62) == NULL && errno == ENOMEM);
  assert(calloc((size_t)1 << 33, (size_t)1 << 33) == NULL);
  void *aligned = NULL;
  assert(posix_memalign(&aligned, 64, 100) == 0 && ((size_t)aligned & 63) == 0);
  free(aligned);
  aligned = aligned_alloc(4096, 4096);
  assert(((size_t)aligned & 4095) == 0);
  free(aligned);
  char *s = strdup("copy");
  assert(!strcmp(s, "copy"));
  free(s);

  size_t n = (size_t)klee_int("n");
  switch (klee_range(0, 4, "which")) {
  case 0: {
    klee_assume(n < 4);
    char *p = malloc(n);
    memset(p, 1, n);
    free(p);
    return (int)n;
  }
  case 1: {
    klee_assume((n >= 2) & (n <= 4));
    int *p = calloc(n, sizeof(int));
    assert(p[n - 1] == 0);
    return 0;
  }
  case 2: {
    klee_assume(n > (size_t)1 << 47);
    char *p = malloc(n);
    assert(p == NULL);
    return 0;
  }
  default: {
    klee_assume((n & 7) == n);
    char *p = malloc(2);
    p[0] = 'x';
    p[1] = 'y';
    p = realloc(p, n + 1);
    assert(p[0] == 'x');
    return n == 3;
  }
  }
}

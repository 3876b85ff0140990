// Memory that nobody freed is an error when it is asked for, on the paths that leak, where it was allocated.
// OPTIONS: --check leak
// EXPECT paths: exit 2 error 3
#include <klee/klee.h>
#include <stdlib.h>

static void *kept;

int main(void) {
  switch (klee_range(0, 5, "which")) {
  case 0: kept = malloc(10); return 0; /* ERROR: leak NEAR: 1 object never freed */
  case 1: kept = malloc(10); free(kept); return 0;
  case 2: kept = calloc(2, 3); kept = realloc(kept, 20); exit(1); /* ERROR: leak NEAR: of 20 bytes */
  case 3: kept = malloc(1); kept = malloc(2); return 3; /* ERROR: leak NEAR: 2 objects never freed, the first */
  default: return 0;
  }
}

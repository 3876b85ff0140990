// Memory that was not freed is an error when it is asked for, told apart by whether anything still points to it,
// where it was allocated.
// OPTIONS: --check leak
// EXPECT paths: exit 3 error 9
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int numbers[4]; };

static void *kept;
static struct node *list;
static char bytes[16];

static void leave(void) { exit(1); }

int main(void) {
  void *local = NULL;
  switch (klee_range(0, 11, "which")) {
  case 0: kept = malloc(10); return 0; /* ERROR: never-freed NEAR: 1 object never freed */
  case 1: kept = malloc(10); free(kept); return 0;
  case 2: kept = calloc(2, 3); kept = realloc(kept, 20); exit(1); /* ERROR: never-freed NEAR: of 20 bytes */
  case 3: kept = malloc(1); kept = malloc(2); return 3; /* ERROR: leak NEAR: 1 object lost, nothing points to it */
  case 4: local = malloc(4); return local == NULL; /* ERROR: leak NEAR: of 4 bytes */
  case 5: local = malloc(5); leave(); /* ERROR: never-freed NEAR: of 5 bytes */
  case 6:
    list = malloc(sizeof *list); /* ERROR: never-freed NEAR: 2 objects never freed, the first */
    list->next = malloc(sizeof *list);
    list->next->next = list;
    return 0;
  case 7:
    list = malloc(sizeof *list); /* ERROR: leak NEAR: 2 objects lost, nothing points to them */
    list->next = malloc(sizeof *list);
    list->next->next = list;
    list = NULL;
    return 0;
  case 8:
    kept = malloc(8); /* ERROR: never-freed NEAR: of 8 bytes */
    memcpy(bytes + 8, &kept, 8);
    kept = NULL;
    return 0;
  case 9:
    if (klee_int("x") > 0)
      return 0;
    kept = (char *)malloc(9) + 9; /* ERROR: never-freed NEAR: of 9 bytes */
    return 0;
  default: return 0;
  }
}

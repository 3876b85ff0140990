/* Takes an element out of a list; forgets that the key may not be there. */
/* UNIT: list_remove */
#include <stdlib.h>
struct item { struct item *next; int key; };
struct list { struct item *first; int count; };

int list_remove(struct list *list, int key) {
  struct item **at = &list->first;
  if (!*at) return -1;
  while ((*at)->key != key) at = &(*at)->next; /* ERROR: null-pointer argument */
  struct item *gone = *at;
  *at = gone->next;
  list->count--;
  free(gone);
  return 0;
}

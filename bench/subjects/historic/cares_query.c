/* c-ares: a query for a host name of up to 8 bytes. */
#include "ares.h"
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  char name[9];
  klee_make_symbolic(name, sizeof name, "input");
  name[8] = 0;
  unsigned char *query;
  int length;
  if (ares_create_query(name, 1, 1, 7, 1, &query, &length, 0) == ARES_SUCCESS) free(query);
  return 0;
}

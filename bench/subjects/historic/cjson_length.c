/* cJSON: an object with one known key and 4 unknown bytes, in a text that does not end in a NUL. */
#include "cJSON.h"
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static const char start[] = {'{', '"', 'k', '"', ':'};
  char bytes[4];
  klee_make_symbolic(bytes, sizeof bytes, "input");
  char *text = malloc(sizeof start + sizeof bytes);
  memcpy(text, start, sizeof start);
  memcpy(text + sizeof start, bytes, sizeof bytes);
  cJSON_Delete(cJSON_ParseWithLength(text, sizeof start + sizeof bytes));
  return 0;
}

/* apr: a string copied into what may be too short for it. */
#include "driver.h"
#include <apr_strings.h>

int main(void) {
  const char *s = any_string();
  size_t size = any_size("room"), length = length_of(s);
  char *copy = malloc(size + 1), *end = apr_cpystrn(copy, s, size + 1);
  assert(*end == 0 && (size_t)(end - copy) == (length < size ? length : size));
  assert(memcmp(copy, s, (size_t)(end - copy)) == 0);
  return 0;
}

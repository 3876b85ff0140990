/* apr: the order of names with numbers in them is antisymmetric. */
#include "driver.h"
#include <apr_strings.h>

int main(void) {
  const char *a = named_string("a"), *b = named_string("b");
  int one = apr_strnatcmp(a, b), other = apr_strnatcmp(b, a);
  assert(one == -other);
  return one == 0;
}

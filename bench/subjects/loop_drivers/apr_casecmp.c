/* apr: comparison of two strings without regard to case is antisymmetric, and 0 for strings that are equal. */
#include "driver.h"
#include <apr_strings.h>
#include <apr_cstr.h>

int main(void) {
  const char *a = named_string("a"), *b = named_string("b");
  int one = apr_cstr_casecmp(a, b), other = apr_cstr_casecmp(b, a);
  assert(one == -other);
  if (one == 0)
    assert(length_of(a) == length_of(b) && (a[0] | 32) == (b[0] | 32));
  return one == 0;
}

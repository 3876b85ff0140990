/* apr: a name against a pattern with wildcards, beside what the pattern says. */
#include "driver.h"
#include <apr_strings.h>
#include <apr_fnmatch.h>

int main(void) {
  const char *s = any_string();
  size_t n = length_of(s);
  int found = apr_fnmatch("a*[x-z]?", s, 0) == APR_SUCCESS;
  int expected = n >= 3 && s[0] == 'a' && s[n - 2] >= 'x' && s[n - 2] <= 'z';
  assert(found == expected);
  return found;
}

/* apr: a string without its spaces has all other characters, and no more. */
#include "driver.h"
#include <apr_strings.h>

int main(void) {
  char *s = any_string();
  size_t length = length_of(s), spaces = 0;
  for (const char *p = s; *p; p++)
    spaces += *p == ' ' || (*p >= '\t' && *p <= '\r');
  char *end = apr_collapse_spaces(s, s);
  assert((size_t)(end - s) == length - spaces && length_of(s) == length - spaces);
  for (const char *p = s; *p; p++)
    assert(*p != ' ' && *p != '\t');
  return 0;
}

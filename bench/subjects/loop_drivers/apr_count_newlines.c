/* apr: the ends of lines of three kinds, beside those of each kind. */
#include "driver.h"
#include <apr_strings.h>
#include <apr_cstr.h>

int main(void) {
  const char *s = any_string();
  size_t lines = (size_t)apr_cstr_count_newlines(s), both = count_of(s, '\n') + count_of(s, '\r');
  assert(lines <= both && 2 * lines >= both);
  return lines > 3;
}

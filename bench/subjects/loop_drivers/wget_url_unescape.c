/* wget: a URL without its escapes is not longer, and the same where it has none. */
#include "driver.h"
#include "wget_stubs.h"

int main(void) {
  char *s = any_string(), first = s[0];
  size_t length = length_of(s), escapes = count_of(s, '%');
  url_unescape(s);
  size_t left = length_of(s);
  assert(left <= length && left + 2 * escapes >= length);
  if (first != '%')
    assert(s[0] == first);
  return left < length;
}

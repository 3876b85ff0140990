/* wget: what was escaped in a URL is unescaped to what it was. */
#include "driver.h"
#include "wget_stubs.h"

int main(void) {
  const char *s = any_string();
  char *escaped = url_escape_unsafe_and_reserved(s);
  size_t length = length_of(s), longer = length_of(escaped);
  assert(longer >= length && longer <= 3 * length && (longer - length) % 2 == 0);
  assert(!strchr(escaped, ' ') && !strchr(escaped, '/'));
  url_unescape(escaped);
  assert(strcmp(escaped, s) == 0);
  return longer > length;
}

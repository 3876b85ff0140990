/* sofia-sip: what was escaped in a URL is unescaped to what it was. */
#include "driver.h"
#include <sofia-sip/url.h>

int main(void) {
  char *s = any_string(), escaped[3 * CAPACITY + 1], back[3 * CAPACITY + 1];
  size_t length = length_of(s);
  url_escape(escaped, s, ";?");
  assert(length_of(escaped) == url_esclen(s, ";?"));
  assert(length_of(escaped) <= 3 * length);
  url_unescape(back, escaped);
  assert(strcmp(back, s) == 0);
  return 0;
}

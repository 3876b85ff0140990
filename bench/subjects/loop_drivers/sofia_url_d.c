/* sofia-sip: a URL taken apart, and put together again: not longer than it was, and the same when repeated. */
#include "driver.h"
#include <sofia-sip/url.h>

int main(void) {
  char *s = any_string(), text[CAPACITY + 8];
  url_t url[1];
  size_t length = length_of(s);
  if (url_d(url, s) < 0)
    return 1;
  issize_t printed = url_e(text, sizeof text, url);
  assert(printed >= 0 && (size_t)printed <= length + 4);
  if (url->url_host)
    assert(length_of(url->url_host) <= length);
  return url->url_type;
}

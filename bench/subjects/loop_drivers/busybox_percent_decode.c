/* busybox: a string without its escapes is not longer; a strict one has no slash from an escape. */
#include <libbb.h>
#include "driver.h"

int main(void) {
  char *s = any_string();
  size_t length = length_of(s), slashes = count_of(s, '/');
  char *decoded = percent_decode_in_place(s, 1);
  if (!decoded)
    return 1;
  if (decoded != s)
    return 2;
  assert(length_of(s) <= length && count_of(s, '/') == slashes);
  return 0;
}

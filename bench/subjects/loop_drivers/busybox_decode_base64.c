/* busybox: base64 is decoded in place to at most three bytes for every four characters. */
#include <libbb.h>
#include "driver.h"

int main(void) {
  char *s = any_string(), data[CAPACITY + 4];
  const char *rest = s;
  size_t length = length_of(s);
  char *end = decode_base64(data, &rest);
  assert(rest >= s && rest <= s + length);
  assert((size_t)(end - data) * 4 <= length * 3);
  return *rest != 0;
}

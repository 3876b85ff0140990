/* wget: base64 of any kind is decoded to at most three bytes for every four characters. */
#include "driver.h"
#include "wget_stubs.h"

int main(void) {
  const char *s = any_string();
  unsigned char data[CAPACITY + 1];
  ssize_t n = wget_base64_decode(s, data, sizeof data);
  if (n < 0)
    return 1;
  assert((size_t)n * 4 <= length_of(s) * 3);
  return n > 3;
}

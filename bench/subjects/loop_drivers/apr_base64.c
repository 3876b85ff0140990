/* apr: data in base64 is decoded to what it was. */
#include "driver.h"
#include <apr_encode.h>
#include <apr_strings.h>

int main(void) {
  size_t n, length, back;
  const char *data = any_block(&n);
  char text[4 * ((CAPACITY + 2) / 3) + 1], again[CAPACITY + 4];
  assert(apr_encode_base64(text, data, (apr_ssize_t)n, APR_ENCODE_NONE, &length) == APR_SUCCESS);
  assert(length_of(text) == (n + 2) / 3 * 4 && length == length_of(text));
  assert(apr_decode_base64(again, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &back) == APR_SUCCESS);
  assert(memcmp(again, data, n) == 0);
  return 0;
}

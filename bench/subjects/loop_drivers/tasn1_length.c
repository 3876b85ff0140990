/* libtasn1: a length that was read from DER is written as the same number, in no more bytes. */
#include "driver.h"
#include <libtasn1.h>

int main(void) {
  size_t n;
  const unsigned char *der = (const unsigned char *)any_block(&n);
  unsigned char written[16];
  int used, size = 0, again;
  long length = asn1_get_length_der(der, (int)n, &used);
  if (!n || length < 0)
    return 1;
  assert(used > 0 && (size_t)used <= n);
  asn1_length_der((unsigned long)length, written, &size);
  assert(size <= used && asn1_get_length_ber(written, size, &again) <= length);
  return 0;
}

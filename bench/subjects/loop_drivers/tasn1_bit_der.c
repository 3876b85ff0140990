/* libtasn1: a string of bits to DER, and back. */
#include "driver.h"
#include <libtasn1.h>

int main(void) {
  size_t n;
  const unsigned char *bits = (const unsigned char *)any_block(&n);
  unsigned char der[CAPACITY + 8], back[CAPACITY + 1];
  int size = 0, used, count;
  if (!n)
    return 1;
  int wanted = (int)n * 8 - (bits[0] & 7);
  asn1_bit_der(bits, wanted, der, &size);
  assert(asn1_get_bit_der(der, size, &used, back, CAPACITY + 1, &count) == ASN1_SUCCESS);
  assert(used == size && count == wanted);
  assert(memcmp(back, bits, n - 1) == 0);
  return 0;
}

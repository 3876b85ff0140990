/* libtasn1: an octet string in DER lies inside the data it was read from. */
#include "driver.h"
#include <libtasn1.h>

int main(void) {
  size_t n;
  const unsigned char *der = (const unsigned char *)any_block(&n), *found;
  unsigned int length, sum = 0;
  if (asn1_decode_simple_der(ASN1_ETYPE_OCTET_STRING, der, (unsigned int)n, &found, &length) != ASN1_SUCCESS)
    return 1;
  assert(found > der && found + length <= der + n);
  for (unsigned int i = 0; i < length; i++)
    sum += found[i];
  return sum > 1000;
}

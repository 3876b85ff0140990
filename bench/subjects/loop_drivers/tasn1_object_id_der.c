/* libtasn1: an object identifier from text to DER, and back without its tag. */
#include "driver.h"
#include <libtasn1.h>

int main(void) {
  const char *text = any_string();
  unsigned char der[2 * CAPACITY + 8];
  char back[4 * CAPACITY + 8];
  int size = sizeof der, used;
  if (asn1_object_id_der(text, der, &size, 0) != ASN1_SUCCESS)
    return 1;
  assert(size >= 2 && (size_t)size <= sizeof der);
  if (asn1_get_object_id_der(der + 1, size - 1, &used, back, sizeof back) != ASN1_SUCCESS)
    return 2;
  assert(used == size - 1);
  return 0;
}

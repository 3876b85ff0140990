/* libtasn1: an object identifier in DER as text: digits and dots, and one dot at least. */
#include "driver.h"
#include <libtasn1.h>

int main(void) {
  size_t n;
  const unsigned char *der = (const unsigned char *)any_block(&n);
  char text[128];
  int used;
  if (asn1_get_object_id_der(der, (int)n, &used, text, sizeof text) != ASN1_SUCCESS)
    return 1;
  assert(used > 0 && (size_t)used <= n);
  assert(count_of(text, '.') >= 1);
  for (const char *p = text; *p; p++)
    assert(*p == '.' || (*p >= '0' && *p <= '9'));
  return 0;
}

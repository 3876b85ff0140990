/* libtasn1: the elements of DER, each as whatever its first bytes say. */
#include "lengths.h"
#include <libtasn1.h>

int main(void) {
  size_t n;
  const unsigned char *der = (const unsigned char *)any_data(&n);
  unsigned char class;
  int at = 0, length, rest = (int)n;
  unsigned long tag;
  char text[64];
  while (rest > 0 && asn1_get_tag_der(der + at, rest, &class, &length, &tag) == ASN1_SUCCESS) {
    int used = 0;
    if (tag == ASN1_TAG_OBJECT_ID)
      asn1_get_object_id_der(der + at + length, rest - length, &used, text, sizeof text);
    else if (tag == ASN1_TAG_BIT_STRING)
      asn1_get_bit_der(der + at + length, rest - length, &used, (unsigned char *)text, sizeof text, &length);
    else if (tag == ASN1_TAG_OCTET_STRING)
      asn1_get_octet_der(der + at + length, rest - length, &used, (unsigned char *)text, sizeof text, &length);
    else {
      long size = asn1_get_length_ber(der + at + length, rest - length, &used);
      if (size < 0)
        break;
      used += (int)size;
    }
    if (length + used <= 0 || length + used > rest)
      break;
    at += length + used;
    rest -= length + used;
  }
  return rest;
}

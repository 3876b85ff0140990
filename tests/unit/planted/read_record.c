/* The length of a record comes from the record. */
/* UNIT: read_record --buffer-size 64 */
#include <string.h>
struct record { unsigned char kind; char name[12]; };

int read_record(struct record *record, const unsigned char *data, unsigned size) {
  if (size < 2 || size > 64) return -1;
  unsigned length = data[1];
  if (2 + length > size) return -2;
  record->kind = data[0];
  if (record->kind == 7) return 0;
  memcpy(record->name, data + 2, length); /* ERROR: out-of-bounds argument */
  return (int)length;
}

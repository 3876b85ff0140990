/* c-ares: an answer with one question and one record, both of the root, and up to 14 unknown bytes after its class. */
#include "ares.h"
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED = 6, UNKNOWN = 14 };

int main(void) {
  static const unsigned char start[] = {
      0, 7, 0x80, 0, 0, 1, 0, 1, 0, 0, 0, 0, /* header: one question, one answer */
      0, 0, 35, 0, 1,                        /* question: the root, NAPTR, IN */
      0, 0, 35, 0, 1,                        /* answer: the root, NAPTR, IN */
  };
  struct { unsigned char size, bytes[UNKNOWN]; } in;
  klee_make_symbolic(&in, sizeof in, "input");
  for (size_t size = FIXED; size <= UNKNOWN; size++)
    if (in.size == size) {
      unsigned char *answer = malloc(sizeof start + size);
      memcpy(answer, start, sizeof start);
      memcpy(answer + sizeof start, in.bytes, size);
      struct ares_naptr_reply *reply = 0;
      ares_parse_naptr_reply(answer, sizeof start + size, &reply);
    }
  return 0;
}

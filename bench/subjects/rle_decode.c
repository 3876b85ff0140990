/* A run-length decoder: SIZE symbolic bytes of packets into a buffer of limited room.
 * A packet starts with a byte: 0x80 + n, then one byte to be written n + 2 times, or n, then n + 1 bytes to be
 * copied; n is at most 15. The result is the decoded length, or what is wrong. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 6
#endif
#ifndef ROOM
#define ROOM (4 * SIZE)
#endif

enum { TRUNCATED = -1, TOO_LONG = -2, RESERVED = -3 };

static int decode(const unsigned char *in, int length, unsigned char *out, int room) {
  int at = 0, used = 0;
  while (at < length) {
    unsigned char head = in[at++];
    int count = head & 0x0f;
    if (head & 0x70) return RESERVED;
    if (head & 0x80) {
      count += 2;
      if (at == length) return TRUNCATED;
      if (count > room - used) return TOO_LONG;
      unsigned char value = in[at++];
      for (int i = 0; i < count; i++)
        out[used++] = value;
    } else {
      count += 1;
      if (count > length - at) return TRUNCATED;
      if (count > room - used) return TOO_LONG;
      for (int i = 0; i < count; i++)
        out[used++] = in[at++];
    }
  }
  return used;
}

int main(void) {
  static unsigned char packed[SIZE], plain[ROOM];
  klee_make_symbolic(packed, sizeof packed, "packed");
  int length = decode(packed, SIZE, plain, ROOM);
  klee_assert(length <= ROOM);
  return length < 0 ? -length : 0;
}

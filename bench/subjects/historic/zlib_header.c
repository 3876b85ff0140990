/* zlib: a gzip member with an extra field of unknown length, arriving in two parts, into 4 bytes of the caller. */
#include "zlib.h"
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 12 };

static void unpack(unsigned char *member, unsigned first) {
  unsigned char out[16];
  z_stream stream = {0};
  gz_header header = {.extra = malloc(4), .extra_max = 4};
  inflateInit2(&stream, 31);
  inflateGetHeader(&stream, &header);
  stream.next_out = out;
  stream.avail_out = sizeof out;
  stream.next_in = member;
  stream.avail_in = 12 + first;
  if (inflate(&stream, Z_NO_FLUSH) == Z_OK) {
    stream.avail_in += DATA - first;
    inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
}

int main(void) {
  struct { unsigned char length[2], data[DATA], first; } in;
  klee_make_symbolic(&in, sizeof in, "input");
  unsigned char member[12 + DATA] = {0x1f, 0x8b, 8, 4};
  memcpy(member + 10, in.length, 2);
  memcpy(member + 12, in.data, DATA);
  for (unsigned first = 0; first <= DATA; first++)
    if (in.first == first) unpack(member, first);
  return 0;
}

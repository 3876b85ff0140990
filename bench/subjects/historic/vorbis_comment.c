/* stb_vorbis: a stream whose comment header has no vendor and an unknown number of comments. */
#include "stb_vorbis.c"
#include <klee/klee.h>

enum { ID = 30 };

static unsigned char file[256];
static int size;

static void put(const void *bytes, int count) {
  memcpy(file + size, bytes, count);
  size += count;
}

/* A page of one packet. */
static void page(int flags, int number, int bytes) {
  unsigned char head[28] = {'O', 'g', 'g', 'S', 0, flags};
  head[18] = number;
  head[26] = 1;
  head[27] = bytes;
  put(head, sizeof head);
}

int main(void) {
  struct { unsigned char comments[4], rest[12]; } in;
  klee_make_symbolic(&in, sizeof in, "input");
  static const unsigned char id[ID] = {1, 'v', 'o', 'r', 'b', 'i', 's', 0, 0, 0, 0, 1, 0x44, 0xac, 0, 0,
                                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xb8, 1};
  page(2, 0, ID);
  put(id, ID);
  page(0, 1, 11 + sizeof in);
  put("\003vorbis\0\0\0", 11);
  put(&in, sizeof in);
  int error = 0;
  stb_vorbis_open_memory(file, size, &error, NULL);
  return 0;
}

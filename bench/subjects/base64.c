/* Decodes base64: SIZE symbolic characters, line ends between them, = at the end. The result is the number of bytes,
 * or what is wrong. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 4
#endif

enum { BAD_CHARACTER = -1, BAD_PADDING = -2, TRUNCATED = -3, LEFT_OVER = -4 };

static int value(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

static int decode(const unsigned char *in, int length, unsigned char *out) {
  unsigned bits = 0;
  int have = 0, used = 0, padding = 0;
  for (int i = 0; i < length; i++) {
    if (in[i] == '\r' || in[i] == '\n') continue;
    if (in[i] == '=') {
      padding++;
      continue;
    }
    if (padding) return BAD_PADDING;
    int six = value(in[i]);
    if (six < 0) return BAD_CHARACTER;
    bits = bits << 6 | (unsigned)six;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out[used++] = (unsigned char)(bits >> have);
    }
  }
  if (have == 6) return TRUNCATED;
  if (padding > 2 || padding != have / 2) return BAD_PADDING;
  if (bits & ((1u << have) - 1)) return LEFT_OVER;
  return used;
}

int main(void) {
  static unsigned char text[SIZE], bytes[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  int length = decode(text, SIZE, bytes);
  klee_assert(length <= SIZE * 3 / 4);
  return length < 0 ? -length : 0;
}

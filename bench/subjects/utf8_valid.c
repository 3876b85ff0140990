/* Is a text of SIZE symbolic bytes UTF-8? Overlong forms, surrogates and what lies above U+10FFFF are not. */
#include "klee/klee.h"

#ifndef SIZE
#define SIZE 4
#endif

/* The number of code points, or -1 - the offset of the first wrong byte. */
static int validate(const unsigned char *text, int length) {
  int points = 0;
  for (int at = 0; at < length; points++) {
    unsigned char lead = text[at];
    int more;
    unsigned char least = 0x80, most = 0xbf;
    if (lead < 0x80)
      more = 0;
    else if (lead >= 0xc2 && lead <= 0xdf)
      more = 1;
    else if (lead >= 0xe0 && lead <= 0xef) {
      more = 2;
      if (lead == 0xe0) least = 0xa0;
      if (lead == 0xed) most = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      more = 3;
      if (lead == 0xf0) least = 0x90;
      if (lead == 0xf4) most = 0x8f;
    } else
      return -1 - at;
    if (more > length - at - 1) return -1 - at;
    if (more > 0 && (text[at + 1] < least || text[at + 1] > most)) return -2 - at;
    for (int i = 2; i <= more; i++)
      if ((text[at + i] & 0xc0) != 0x80) return -1 - at - i;
    at += more + 1;
  }
  return points;
}

int main(void) {
  unsigned char text[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  int points = validate(text, SIZE);
  klee_assert(points <= SIZE);
  return points < 0 ? 1 : 0;
}

/* realloc in a loop keeps what was there. */
#include "sizes.h"

int main(void) {
  size_t n = any_size(1, "n"), room = 1;
  unsigned char *p = malloc(room);
  for (size_t i = 0; i < n; i++) {
    if (i == room)
      p = realloc(p, room *= 2);
    p[i] = (unsigned char)i;
  }
  for (size_t i = 0; i < n; i++)
    assert(p[i] == i);
  return 0;
}

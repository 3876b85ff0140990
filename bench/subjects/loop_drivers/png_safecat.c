/* libpng: two strings one behind the other in what may be too short for them. */
#include "driver.h"
#include <pngpriv.h>

int main(void) {
  const char *a = named_string("a"), *b = named_string("b");
  size_t room = any_size("room") + 1, both = length_of(a) + length_of(b);
  char *buffer = malloc(room);
  size_t end = png_safecat(buffer, room, png_safecat(buffer, room, 0, a), b);
  assert(end == (both < room - 1 ? both : room - 1));
  assert(length_of(buffer) == end);
  return 0;
}

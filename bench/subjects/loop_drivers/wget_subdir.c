/* wget: a directory below another begins with its name, and is no shorter. */
#include "driver.h"
#include "wget_stubs.h"

int main(void) {
  const char *above = named_string("above"), *below = named_string("below");
  bool found = subdir_p(above, below);
  size_t n = length_of(above);
  if (!found)
    return 1;
  assert(n <= length_of(below) && memcmp(above, below, n) == 0);
  assert(n == 0 || below[n] == 0 || below[n] == '/');
  return 0;
}

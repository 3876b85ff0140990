/* libpng: a keyword made valid has no space at its ends, no two in a row, and is not longer than it was. */
#include "driver.h"
#include <pngpriv.h>

static void ignore(png_structp png, png_const_charp text) {}

int main(void) {
  const char *key = any_string();
  static png_struct png;
  png_byte made[81];
  png.warning_fn = ignore;
  png_uint_32 n = png_check_keyword(&png, key, made);
  assert(n <= 79 && n <= length_of(key) && length_of((char *)made) == n);
  if (n)
    assert(made[0] != ' ' && made[n - 1] != ' ');
  for (png_uint_32 i = 1; i < n; i++)
    assert(made[i] > 31 && (made[i] != ' ' || made[i - 1] != ' '));
  return n > 0;
}

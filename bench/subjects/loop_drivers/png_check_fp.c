/* libpng: what counts as a number has a digit, and nothing that numbers have not. */
#include "driver.h"
#include <pngpriv.h>

int main(void) {
  size_t n, digits = 0;
  const char *text = any_block(&n);
  if (!png_check_fp_string(text, n))
    return 1;
  for (size_t i = 0; i < n && text[i]; i++) {
    char c = text[i];
    int digit = c >= '0' && c <= '9';
    digits += digit;
    assert(digit || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E');
  }
  assert(digits > 0);
  return 0;
}

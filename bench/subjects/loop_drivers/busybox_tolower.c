/* busybox: a string in small letters, and the name that it begins with. */
#include <libbb.h>
#include "driver.h"

int main(void) {
  char *s = any_string();
  size_t length = length_of(s), i;
  assert(str_tolower(s) == s && length_of(s) == length);
  for (i = 0; i < length; i++)
    assert(s[i] < 'A' || s[i] > 'Z');
  i = (size_t)(endofname(s) - s);
  assert(i <= length && (!i || s[0] == '_' || s[0] >= 'a'));
  return i == length;
}

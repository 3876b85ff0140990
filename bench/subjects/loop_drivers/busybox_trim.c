/* busybox: a string without the spaces around it. */
#include <libbb.h>
#include "driver.h"

int main(void) {
  char *s = any_string();
  size_t length = length_of(s);
  char *end = trim(s);
  size_t left = length_of(s);
  assert(end == s + left && left <= length);
  if (left)
    assert(s[0] != ' ' && s[0] != '\t' && s[left - 1] != ' ' && s[left - 1] != '\n');
  return left < length;
}

/* wget: a list separated by commas has one element more than commas. */
#include "driver.h"
#include "wget_stubs.h"

int main(void) {
  const char *s = any_string();
  char **list = sepstring(s);
  size_t count = 0;
  if (!list) {
    assert(!s[0]);
    return 1;
  }
  for (; list[count]; count++)
    assert(!strchr(list[count], ','));
  assert(count == count_of(s, ',') + 1);
  return 0;
}

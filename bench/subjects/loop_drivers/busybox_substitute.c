/* busybox: every occurrence of a string in another is replaced by a longer one. */
#include <libbb.h>
#include "driver.h"

void *xmalloc(size_t size) { return malloc(size); }

int main(void) {
  const char *s = any_string();
  unsigned count = count_strstr(s, "{}");
  char *made = xmalloc_substitute_string(s, (int)count, "{}", "[..]");
  assert(length_of(made) == length_of(s) + 2 * count);
  assert(count_of(made, '[') == count_of(s, '[') + count);
  return count > 1;
}

/* busybox: a path made simple is not longer and has no two slashes in a row. */
#include <libbb.h>
#include "driver.h"

int main(void) {
  char *path = any_string();
  size_t length = length_of(path);
  if (path[0] != '/')
    return 1;
  char *end = bb_simplify_abs_path_inplace(path);
  assert(path[0] == '/' && (size_t)(end - path) <= length && *end == 0);
  for (char *p = path; p < end; p++)
    assert(p[0] != '/' || p[1] != '/');
  return 0;
}

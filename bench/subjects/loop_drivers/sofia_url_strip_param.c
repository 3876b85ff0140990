/* sofia-sip: a parameter taken out of a list of them is no longer there, and nothing becomes longer. */
#include "driver.h"
#include <sofia-sip/url.h>

int main(void) {
  char *params = any_string();
  size_t length = length_of(params);
  params = url_strip_param_string(params, "lr");
  if (!params)
    return 1;
  assert(length_of(params) <= length);
  assert(!url_have_param(params, "lr"));
  return 0;
}

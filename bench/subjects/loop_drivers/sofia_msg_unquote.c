/* sofia-sip: what was quoted in a message is unquoted to what it was. */
#include "driver.h"
#include <sofia-sip/msg_parser.h>

int main(void) {
  char *s = any_string(), quoted[2 * CAPACITY + 3], back[2 * CAPACITY + 3];
  issize_t n = msg_unquoted_e(quoted, sizeof quoted - 1, s);
  assert(n >= 2 && (size_t)n <= 2 * length_of(s) + 2);
  quoted[n] = 0;
  assert(msg_unquote(back, quoted) == back);
  assert(strcmp(back, s) == 0);
  return 0;
}

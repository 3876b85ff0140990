/* sofia-sip: a comment of nested parentheses ends where as many were closed as opened. */
#include "driver.h"
#include <sofia-sip/msg_parser.h>

int main(void) {
  char *s = any_string(), *rest = s;
  const char *comment = 0;
  if (s[0] != '(')
    return 1;
  if (msg_comment_d(&rest, &comment) < 0)
    return 2;
  assert(comment == s + 1 && rest > comment);
  assert(count_of(comment, '(') == count_of(comment, ')'));
  return *rest != 0;
}

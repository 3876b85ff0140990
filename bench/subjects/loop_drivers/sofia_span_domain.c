/* sofia-sip: the part of a string that is the name of a host. */
#include "driver.h"
#include <sofia-sip/hostdomain.h>
#include <sofia-sip/bnf.h>

int main(void) {
  char *s = any_string();
  size_t n = span_domain(s), dots = 0;
  assert(n <= length_of(s));
  for (size_t i = 0; i < n; i++) {
    char c = s[i];
    dots += c == '.';
    assert(c == '.' || c == '-' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'));
  }
  if (n)
    assert(s[0] != '.' && s[0] != '-');
  return dots > 2;
}

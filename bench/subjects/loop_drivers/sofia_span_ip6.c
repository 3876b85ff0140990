/* sofia-sip: the part of a string that is an IPv6 address has hexadecimal digits, dots and colons only. */
#include "driver.h"
#include <sofia-sip/bnf.h>

int main(void) {
  char *s = any_string();
  int n = span_ip6_address(s);
  assert(n >= 0 && (size_t)n <= length_of(s));
  for (int i = 0; i < n; i++) {
    char c = s[i];
    assert(c == ':' || c == '.' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'));
  }
  return n > 0;
}

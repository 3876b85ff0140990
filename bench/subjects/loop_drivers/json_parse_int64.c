/* json-c: the number that a text begins with, beside a loop of our own. */
#include "driver.h"
#include <json_util.h>

int main(void) {
  const char *s = any_string(), *p = s;
  int64_t number = 0;
  unsigned long long plain = 0;
  if (json_parse_int64(s, &number) != 0)
    return 1;
  while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
    p++;
  int minus = *p == '-';
  p += *p == '-' || *p == '+';
  const char *digits = p;
  for (; *p >= '0' && *p <= '9'; p++)
    plain = plain * 10 + (unsigned long long)(*p - '0');
  if (p - digits > 0 && p - digits < 19)
    assert(number == (minus ? -(int64_t)plain : (int64_t)plain));
  return 0;
}

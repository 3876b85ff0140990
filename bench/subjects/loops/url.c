/* A text with %xx and + decoded. */
#include "loops.h"

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

int main(void) {
  char *s = any_text(), out[M + 1];
  int i = 0, o = 0;
  while (s[i]) {
    if (s[i] == '%' && digit(s[i + 1]) >= 0 && digit(s[i + 2]) >= 0) {
      out[o++] = (char)(digit(s[i + 1]) * 16 + digit(s[i + 2]));
      i += 3;
    } else if (s[i] == '+') {
      out[o++] = ' ';
      i++;
    } else {
      out[o++] = s[i++];
    }
  }
  out[o] = 0;
  DECIDE(o);
  if (o > 2 && out[1] == '/') return 3;
  return 0;
}
